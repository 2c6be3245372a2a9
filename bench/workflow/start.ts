// What an execution costs before it does anything: one pure operation, through the pool as a server uses it.
import { compilePlan } from '../../packages/core/src/workflow/plan.ts';
import { WorkflowPool } from '../../packages/core/src/workflow/pool.ts';
import { runPlan } from '../../packages/core/src/workflow/run.ts';
import { readWorkflow } from '../../packages/protocols/src/a2e-workflow/index.ts';
import { jsonLog, systemClock } from '../../packages/server/src/parts/system-ports.ts';
import { median, table } from '../support/measure.ts';
import { NO_EFFECTS } from './data.ts';

export async function benchStart(): Promise<readonly string[]> {
  const plan = noOperation();
  const options = { effects: NO_EFFECTS, timeoutMs: 30_000 };
  const shared = { clock: systemClock, log: jsonLog('error'), size: 1 };
  await using pool = new WorkflowPool(shared);
  await using threads = new WorkflowPool({ ...shared, lightBytes: 0 });
  const inProcess = await medianTime(() => runPlan(plan, { ...options, clock: systemClock }));
  const pooled = await medianTime(() => pool.run(plan, options));
  const threaded = await medianTime(() => threads.run(plan, options));
  console.log(
    table([
      ['one operation that does nothing', 'p50'],
      ['plan alone', microseconds(inProcess)],
      ['through the pool', microseconds(pooled)],
      ['through a thread', microseconds(threaded)],
    ]),
  );
  return pooled > MOST_MS ? [`an operation that does nothing takes ${microseconds(pooled)}; at most 100 µs`] : [];
}

/** A condition on what is not there, so that nothing is run. */
function noOperation() {
  const check = { condition: { path: '/workflow/none', operator: 'exists' }, ifTrue: ['never'] };
  const read = readWorkflow([
    { type: 'operationUpdate', operationId: 'check', operation: { Conditional: check } },
    { type: 'operationUpdate', operationId: 'never', operation: { Wait: { duration: 0 } } },
    { type: 'beginExecution', executionId: 'bench', operationOrder: ['check'] },
  ]);
  const compiled = read.ok ? compilePlan(read.value) : undefined;
  if (compiled?.ok !== true) throw new Error('the plan of the benchmark is not valid');
  return compiled.plan;
}

async function medianTime(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    await run();
    if (round >= ROUNDS / 4) times.push(performance.now() - from);
  }
  return median(times);
}

function microseconds(value: number): string {
  return `${(value * 1000).toFixed(0)} µs`;
}

const ROUNDS = 4000;
const MOST_MS = 0.1;
