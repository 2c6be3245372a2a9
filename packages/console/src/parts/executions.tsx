import type { WorkflowPlan } from '@dragoman/client';
import type { ExecutionResult } from '@dragoman/protocols/a2e-workflow';
import { useEffect, useState } from 'preact/hooks';
import { useLive } from '../live.ts';
import { pageUrl, route } from '../router.ts';
import { asAgent } from '../session.ts';
import { ExecutionSteps } from './execution-steps.tsx';
import { Code, Json } from './json.tsx';
import { Paging } from './paging.tsx';
import { PlanGraph, type StepStates } from './plan-graph.tsx';
import { Problem } from './problem.tsx';
import { State } from './state.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

/** A running execution: its events highlight steps in the graph, and its end adds the results. */
export function Run({ id, plan }: { readonly id: string; readonly plan: WorkflowPlan | undefined }) {
  const client = asAgent.value;
  const [states, setStates] = useState<StepStates>({});
  const [times, setTimes] = useState<Readonly<Record<string, number>>>({});
  const [result, setResult] = useState<ExecutionResult>();
  const [trouble, setTrouble] = useState<unknown>();
  useEffect(() => {
    const over = new AbortController();
    const read = async () => {
      for await (const event of client?.workflows.events(id, { signal: over.signal }) ?? []) {
        if (event.event === 'execution-finished') setResult(event.result);
        else if (event.event === 'operation-started') setStates((all) => ({ ...all, [event.operationId]: 'running' }));
        else if (event.event === 'operation-finished') {
          setStates((all) => ({ ...all, [event.operationId]: event.status === 'success' ? 'success' : 'failed' }));
          setTimes((all) => ({ ...all, [event.operationId]: event.duration_ms }));
        }
      }
    };
    read().catch((error) => {
      if (!over.signal.aborted) setTrouble(error);
    });
    return () => over.abort();
  }, [client, id]);
  return (
    <>
      <div class="bar">
        <State state={result?.status ?? 'running'} />
        <a class="mono cut" href={pageUrl('workflows', 'executions', id)}>
          <Text value={id} />
        </a>
        {result === undefined && (
          <button
            type="button"
            class="danger small"
            onClick={() => void client?.workflows.cancel(id).catch(setTrouble)}
          >
            Cancel
          </button>
        )}
      </div>
      {plan !== undefined && <PlanGraph plan={plan} states={states} />}
      <Problem error={trouble} />
      <ExecutionSteps id={id} plan={plan} states={states} times={times} result={result} />
      {result?.error !== undefined && <Json value={result.error} label="Error" />}
    </>
  );
}

export function Executions() {
  const client = asAgent.value;
  const cursor = route.value.query.get('cursor') ?? undefined;
  const { data, error, reload } = useLive(
    async () => client?.workflows.list({ limit: 50, ...(cursor !== undefined && { cursor }) }),
    [client, cursor],
    cursor === undefined ? 3000 : undefined,
  );
  return (
    <>
      <Problem error={error} retry={reload} />
      {data?.executions.length === 0 && (
        <p class="dim">
          Nothing has run yet. <a href={pageUrl('workflows')}>Run one in the editor.</a>
        </p>
      )}
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Status</th>
              <th>Execution</th>
              <th>Started</th>
              <th class="number">Took</th>
            </tr>
          </thead>
          <tbody>
            {data?.executions.map(({ execution_id: id, status, started_at: started, duration_ms: took }) => (
              <tr key={id}>
                <td>
                  <State state={status} />
                </td>
                <td class="mono cut">
                  <a href={pageUrl('workflows', 'executions', id)}>
                    <Text value={id} />
                  </a>
                </td>
                <td class="tight">
                  <When at={started} />
                </td>
                <td class="number">{took === undefined ? '' : `${Math.round(took)} ms`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Paging cursor={cursor} next={data?.next_cursor} />
    </>
  );
}

export function OneExecution({ id }: { readonly id: string }) {
  const client = asAgent.value;
  const { data: record } = useLive(async () => client?.workflows.record(id), [client, id]);
  // Planning may fail, for example because a permission was revoked. The rest of the page is still shown.
  const plan = useLive(
    async () => (record === undefined ? undefined : client?.workflows.plan(record.workflow).catch(() => undefined)),
    [client, record?.plan_hash],
  );
  return (
    <section class="panel">
      <div class="bar">
        <a href={pageUrl('requests', id)}>Its frames and X-ray</a>
        {record !== undefined && (
          <span class="dim">
            plan <code>{record.plan_hash.slice(0, 16)}</code>
          </span>
        )}
      </div>
      <Run id={id} plan={plan.data} />
      {record !== undefined && (
        <details>
          <summary class="dim">The workflow</summary>
          <Code text={record.workflow} label="The workflow" />
        </details>
      )}
    </section>
  );
}
