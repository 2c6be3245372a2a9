import type { RunnableWorkflow, WorkflowPlan } from '@dragoman/client';
import type { ValidationReport } from '@dragoman/protocols/a2e-workflow';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { stateOfStream, useFrames } from '../frame-stream.ts';
import { useLive } from '../live.ts';
import { AnswerView, foldFrames } from '../parts/answer-view.tsx';
import { Editor, type Finding } from '../parts/editor.tsx';
import { Executions, OneExecution, Run } from '../parts/executions.tsx';
import { Page } from '../parts/page.tsx';
import { PlanGraph, type StepStates } from '../parts/plan-graph.tsx';
import { Problem } from '../parts/problem.tsx';
import { SchemaForm } from '../parts/schema-form.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { State } from '../parts/state.tsx';
import { Text } from '../parts/text.tsx';
import { pageUrl, route } from '../router.ts';
import { asAgent } from '../session.ts';
import { findingsIn } from '../workflow-findings.ts';

/** Write, check, plan and run workflows; stored ones by name; what became of executions. */
export default function WorkflowsPage() {
  const client = asAgent.value;
  const [kind, name] = route.value.rest;
  return (
    <Page
      title="Workflows"
      actions={
        <>
          <a href={pageUrl('workflows')} aria-current={kind === undefined ? 'page' : undefined}>
            Editor
          </a>
          <a href={pageUrl('workflows', 'executions')} aria-current={kind === 'executions' ? 'page' : undefined}>
            Executions
          </a>
        </>
      }
    >
      {client === undefined ? (
        <NeedsKey kind="agent" />
      ) : kind === 'executions' ? (
        name === undefined ? (
          <Executions />
        ) : (
          <OneExecution key={name} id={name} />
        )
      ) : kind === 'stored' && name !== undefined ? (
        <Stored key={name} name={name} />
      ) : (
        <>
          <Bench />
          <StoredList />
        </>
      )}
    </Page>
  );
}

/** The text stays while somebody looks at another page. */
let draft: string | undefined;

function Bench() {
  const client = asAgent.value;
  const [text, setText] = useState(draft ?? EXAMPLE);
  const [checked, setChecked] = useState<{ report?: ValidationReport; plan?: WorkflowPlan; error?: unknown }>({});
  const [running, setRunning] = useState<string>();
  const [trouble, setTrouble] = useState<unknown>();
  const words = useLive(
    async () => (await client?.workflows.capabilities())?.capabilities.supportedOperations,
    [client],
  );
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
  const run = async () => {
    setTrouble(undefined);
    try {
      setRunning(await client?.workflows.start(withFreshId(text)));
    } catch (error) {
      setTrouble(error);
    }
  };
  const { report, plan } = checked;
  const findings = useMemo(() => (report === undefined ? NO_FINDINGS : findingsIn(report, text)), [report]);
  return (
    <div class="columns">
      <section class="panel">
        <div class="bar">
          <h2>Editor</h2>
          <button type="button" class="primary" disabled={report?.valid !== true} onClick={() => void run()}>
            Run
          </button>
          <span class="dim" role="status">
            {report === undefined
              ? 'Checking…'
              : report.valid
                ? `Valid${report.warnings.length > 0 ? `, ${report.warnings.length} warnings` : ''}`
                : `${report.errors.length} errors`}
          </span>
        </div>
        <Editor
          label="Workflow, JSON lines"
          initial={text}
          change={setText}
          findings={findings}
          words={words.data ?? NO_WORDS}
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
              <Plan plan={plan} states={NO_STATES} />
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

function Plan({ plan, states }: { readonly plan: WorkflowPlan; readonly states: StepStates }) {
  const { estimate, steps } = plan;
  const hosts = [...new Set(steps.flatMap(({ calls }) => (calls === undefined ? [] : [calls.origin])))];
  const credentials = [...new Set(steps.flatMap((step) => step.credentials))];
  return (
    <>
      <PlanGraph plan={plan} states={states} />
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

function StoredList() {
  const client = asAgent.value;
  const { data, error } = useLive(async () => client?.workflows.stored(), [client]);
  return (
    <section class="panel">
      <h2>Stored workflows</h2>
      <Problem error={error} />
      {data?.length === 0 && (
        <p class="dim">None that you may run. `npx dragoman workflow store NAME file.jsonl` stores one under a name.</p>
      )}
      <ul class="list">
        {data?.map(({ name, description, version }) => (
          <li key={name}>
            <a href={pageUrl('workflows', 'stored', name)}>
              <Text value={name} /> <span class="dim">version {version}</span>
              <small>
                <Text value={description} />
              </small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Stored({ name }: { readonly name: string }) {
  const client = asAgent.value;
  const { data, error } = useLive(
    async () => (await client?.workflows.stored())?.find((one) => one.name === name),
    [client, name],
  );
  const [run, setRun] = useState<{ readonly id: string; readonly inputs: RunnableWorkflow['inputs'] }>();
  const stream = useFrames(
    run === undefined || client === undefined
      ? undefined
      : (onReconnect, signal) =>
          client.send(
            { method: name, params: run.inputs },
            { agent: 'workflows', requestId: run.id, onReconnect, signal },
          ),
    [run?.id],
  );
  return (
    <section class="panel">
      <h2>
        <Text value={name} />
      </h2>
      <Problem error={error} />
      {data !== undefined && (
        <>
          <p class="dim">
            <Text value={data.description} />
          </p>
          <SchemaForm
            schema={data.inputs}
            action="Run"
            submit={(inputs) => setRun({ id: crypto.randomUUID(), inputs })}
          />
        </>
      )}
      {run !== undefined && (
        <>
          <State state={stateOfStream(stream)} />
          <Problem error={stream.error} />
          <AnswerView answer={foldFrames(stream.frames)} />
        </>
      )}
    </section>
  );
}

/** The same id again would be answered from the record. */
function withFreshId(text: string): string {
  return text.replace(/("executionId"\s*:\s*")([^"]*)"/, (_, head, id) => `${head}${id}-${Date.now().toString(36)}"`);
}

const CHECK_AFTER_MS = 400;
const NO_FINDINGS: readonly Finding[] = [];
const NO_WORDS: readonly string[] = [];
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
