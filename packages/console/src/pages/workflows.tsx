import { Executions, OneExecution } from '../parts/executions.tsx';
import { Page } from '../parts/page.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { OneStoredWorkflow, StoredWorkflowList } from '../parts/stored-workflows.tsx';
import { WorkflowBench } from '../parts/workflow-bench.tsx';
import { pageUrl, route } from '../router.ts';
import { asAgent } from '../session.ts';

/** Workflows: an editor to check, plan and run them; stored workflows; executions. */
export default function WorkflowsPage() {
  const [kind, name] = route.value.rest;
  return (
    <Page title="Workflows">
      <nav class="tabs" aria-label="Workflows">
        <a href={pageUrl('workflows')} aria-current={kind === undefined ? 'page' : undefined}>
          Editor
        </a>
        <a href={pageUrl('workflows', 'executions')} aria-current={kind === 'executions' ? 'page' : undefined}>
          Executions
        </a>
      </nav>
      {asAgent.value === undefined ? <NeedsKey kind="agent" /> : <Content kind={kind} name={name} />}
    </Page>
  );
}

function Content({ kind, name }: { readonly kind: string | undefined; readonly name: string | undefined }) {
  if (kind === 'executions') return name === undefined ? <Executions /> : <OneExecution key={name} id={name} />;
  if (kind === 'stored' && name !== undefined) return <OneStoredWorkflow key={name} name={name} />;
  return (
    <>
      <WorkflowBench />
      <StoredWorkflowList />
    </>
  );
}
