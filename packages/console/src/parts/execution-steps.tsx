import type { ExecutionEffect, WorkflowPlan } from '@dragoman/client';
import type { ExecutionResult } from '@dragoman/protocols/a2e-workflow';
import { useLive } from '../live.ts';
import { asAgent } from '../session.ts';
import { Json } from './json.tsx';
import type { StepStates } from './plan-graph.tsx';
import { State } from './state.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

interface ExecutionStepsParts {
  readonly id: string;
  readonly plan: WorkflowPlan | undefined;
  readonly states: StepStates;
  readonly times: Readonly<Record<string, number>>;
  readonly result: ExecutionResult | undefined;
}

/** The steps of an execution in order of their start: state, input, output, retries and waits. */
export function ExecutionSteps({ id, plan, states, times, result }: ExecutionStepsParts) {
  const client = asAgent.value;
  const isOver = result !== undefined;
  const { data: record } = useLive(async () => client?.workflows.record(id), [client, id, isOver]);
  return (
    <ol>
      {Object.entries(states).map(([step, state]) => (
        <li key={step}>
          <State state={state} /> <Text value={step} />{' '}
          {times[step] !== undefined && <span class="dim">{Math.round(times[step])} ms</span>}
          <Effects list={record?.effects.filter(({ key }) => isOf(step, key)) ?? []} />
          <Value label="Input" step={step} value={inputOf(step, plan, result)} />
          <Value label="Output" step={step} value={result?.results[step]} />
        </li>
      ))}
    </ol>
  );
}

function Effects({ list }: { readonly list: readonly ExecutionEffect[] }) {
  return (
    <>
      {list.slice(0, 20).map(({ key, kind, status, attempts, failure, until }) => (
        <div key={`${kind} ${key}`} class="dim">
          {NAMES[kind] ?? kind}
          {status !== undefined && `, HTTP ${status}`}
          {attempts !== undefined && `, tried ${attempts} ${attempts === 1 ? 'time' : 'times'}`}
          {until !== undefined && (
            <>
              , until <When at={until} />
            </>
          )}
          {failure != null && (
            <>
              : <Text value={failure} />
            </>
          )}
        </div>
      ))}
      {list.length > 20 && <div class="dim">and {list.length - 20} more</div>}
    </>
  );
}

function Value({ label, step, value }: { readonly label: string; readonly step: string; readonly value: unknown }) {
  if (value === undefined) return null;
  return (
    <details>
      <summary class="dim">{label}</summary>
      <Json value={value} label={`${label} of ${step}`} />
    </details>
  );
}

/** The results that a step reads, by path. */
function inputOf(step: string, plan: WorkflowPlan | undefined, result: ExecutionResult | undefined): unknown {
  const planned = plan?.steps.find(({ operationId }) => operationId === step);
  if (planned === undefined || result === undefined) return undefined;
  const read = planned.reads.flatMap((path) => {
    const writer = plan?.steps.find(({ writes }) => writes.some((one) => path === one || path.startsWith(`${one}/`)));
    const value = writer && result.results[writer.operationId];
    return value === undefined ? [] : [[path, value] as const];
  });
  return read.length === 0 ? undefined : Object.fromEntries(read);
}

/** Whether an effect belongs to a step. A step in a loop has one effect for each round. */
function isOf(step: string, key: string): boolean {
  return key === step || (key.startsWith(step) && !/[\w-]/.test(key.charAt(step.length)));
}

const NAMES: Readonly<Record<string, string>> = {
  call: 'API call',
  ask: 'called an agent, a tool or a workflow',
  store: 'stored a value',
  stored: 'read a stored value',
  wait: 'waited',
  intent: 'was about to call an API',
  now: 'read the clock',
};
