import type { WorkflowPlan } from '@dragoman/client';
import { isObject } from '@dragoman/protocols';
import { type Capabilities, OPERATION_NAMES, type ValidationReport } from '@dragoman/protocols/a2e-workflow';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useAction } from '../action.ts';
import { useLive } from '../live.ts';
import { asAgent } from '../session.ts';
import { offeredAt, type Usable } from '../workflow-completion.ts';
import { findingsIn } from '../workflow-findings.ts';
import { Editor, type Finding } from './editor.tsx';
import { Run } from './executions.tsx';
import { PlanGraph, type StepStates } from './plan-graph.tsx';
import { Problem } from './problem.tsx';
import { StoreWorkflow } from './stored-workflows.tsx';
import { Text } from './text.tsx';

/** The text of the editor, which is kept while the user looks at another page. */
let draft: string | undefined;

/** An editor with the checker's findings. Beside it is the plan or, once the workflow is started, its execution. */
export function WorkflowBench() {
  const client = asAgent.value;
  const [text, setText] = useState(draft ?? EXAMPLE);
  const [checked, setChecked] = useState<{ report?: ValidationReport; plan?: WorkflowPlan; error?: unknown }>({});
  const [running, setRunning] = useState<string>();
  const { act, trouble } = useAction();
  const usable = useLive(async () => client && usableIn(await client.workflows.capabilities()), [client]);
  useEffect(() => {
    draft = text;
    const over = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const report = await client?.workflows.validate(text, { signal: over.signal });
        const plan = report?.valid === true ? await client?.workflows.plan(text, { signal: over.signal }) : undefined;
        if (!over.signal.aborted) setChecked({ ...(report && { report }), ...(plan && { plan }) });
      } catch (error) {
        if (!over.signal.aborted) setChecked({ error });
      }
    }, CHECK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [client, text]);
  const { report, plan } = checked;
  // With the hash, the server runs the displayed plan or none.
  const run = () =>
    act(async () => setRunning(await client?.workflows.start(withFreshId(text), { planHash: plan?.plan_hash })));
  const findings = useMemo(() => (report === undefined ? NO_FINDINGS : findingsIn(report, text)), [report]);
  return (
    <div class="columns">
      <section class="panel">
        <div class="bar">
          <h2>Editor</h2>
          <button
            type="button"
            class="primary"
            disabled={plan === undefined}
            title={plan && `Runs only if the plan still has the hash ${plan.plan_hash}`}
            onClick={() => void run()}
          >
            Run
          </button>
          <span class="dim" role="status">
            {report === undefined
              ? 'Checking…'
              : report.valid
                ? `Valid${report.warnings.length > 0 ? `, ${report.warnings.length} warnings` : ''}`
                : `${report.errors.length} ${report.errors.length === 1 ? 'error' : 'errors'}`}
          </span>
        </div>
        <Editor
          label="Workflow, JSON lines"
          initial={text}
          change={setText}
          findings={findings}
          offers={(line, column, all) => offeredAt(line, column, all, usable.data ?? NOTHING)}
        />
        <Problem error={trouble ?? checked.error} />
        <FindingList findings={findings} />
      </section>
      <section class="panel">
        {running === undefined ? (
          <>
            <h2>Plan</h2>
            {plan === undefined ? (
              <p class="dim">A valid workflow shows here what it would do.</p>
            ) : (
              <>
                <Plan plan={plan} />
                <StoreWorkflow text={text} planHash={plan.plan_hash} />
              </>
            )}
          </>
        ) : (
          <>
            <div class="bar">
              <h2>Run</h2>
              <button type="button" class="small" onClick={() => setRunning(undefined)}>
                Back to the plan
              </button>
            </div>
            <Run key={running} id={running} plan={plan} />
          </>
        )}
      </section>
    </div>
  );
}

function FindingList({ findings }: { readonly findings: readonly Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul>
      {findings.map(({ line, severity, message }) => (
        <li key={`${line} ${message}`} class={severity === 'error' ? 'bad' : 'warn'}>
          line {line}: <Text value={message} />
        </li>
      ))}
    </ul>
  );
}

function Plan({ plan }: { readonly plan: WorkflowPlan }) {
  const { estimate, steps } = plan;
  const hosts = [...new Set(steps.flatMap(({ calls }) => (calls === undefined ? [] : [calls.origin])))];
  const credentials = [...new Set(steps.flatMap((step) => step.credentials))];
  return (
    <>
      <PlanGraph plan={plan} states={NO_STATES} />
      <dl class="facts">
        <dt>Steps</dt>
        <dd>{estimate.steps}</dd>
        <dt>API calls</dt>
        <dd>
          {estimate.at_least ? 'at least ' : ''}
          {estimate.api_calls}
        </dd>
        <dt>Hosts</dt>
        <dd>
          <Text value={hosts.join(', ') || 'none'} />
        </dd>
        <dt>Credentials</dt>
        <dd>
          <Text value={credentials.join(', ') || 'none'} />
        </dd>
        <dt>Waits</dt>
        <dd>{estimate.wait_ms} ms</dd>
        <dt>Plan hash</dt>
        <dd>
          <code>{plan.plan_hash}</code>
        </dd>
      </dl>
    </>
  );
}

/** Changes the execution id, because a repeated id would get the recorded result. */
function withFreshId(text: string): string {
  return text.replace(/("executionId"\s*:\s*")([^"]*)"/, (_, head, id) => `${head}${id}-${Date.now().toString(36)}"`);
}

const CHECK_AFTER_MS = 400;
const NO_FINDINGS: readonly Finding[] = [];
const NOTHING: Usable = { operations: OPERATION_NAMES, credentials: [], origins: [] };
/** The operations of this server, and the resources that the key may use. */
function usableIn({ capabilities }: Capabilities): Usable {
  const { supportedOperations, availableApis, availableCredentials } = capabilities;
  const textsOf = (list: readonly unknown[], name: string) =>
    list.flatMap((one) => (isObject(one) && typeof one[name] === 'string' ? [one[name]] : []));
  return {
    operations: supportedOperations,
    credentials: textsOf(availableCredentials, 'id'),
    origins: [...textsOf(availableApis, 'base_url'), ...textsOf(availableApis, 'baseUrl')],
  };
}

const NO_STATES: StepStates = {};
const EXAMPLE = [
  {
    type: 'operationUpdate',
    operationId: 'now',
    operation: { GetCurrentDateTime: { timezone: 'UTC', outputPath: '/workflow/now' } },
  },
  { type: 'operationUpdate', operationId: 'pause', operation: { Wait: { duration: 500 } } },
  {
    type: 'operationUpdate',
    operationId: 'keep',
    operation: { StoreData: { inputPath: '/workflow/now', storage: 'localStorage', key: 'last-look' } },
  },
  { type: 'beginExecution', executionId: 'first-look', operationOrder: ['now', 'pause', 'keep'] },
]
  .map((line) => JSON.stringify(line))
  .join('\n');
