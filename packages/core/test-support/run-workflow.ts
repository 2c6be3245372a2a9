import type { Json } from '@dragoman/protocols';
import { type PlanRunOptions, type RunResult, runPlan } from '../src/workflow/run.ts';
import { answered, RecordedEffects } from './recorded-effects.ts';
import { TestClock } from './test-clock.ts';
import { planOf } from './workflow-plan.ts';

export interface WorkflowRun extends Partial<PlanRunOptions> {
  /** What is at `/workflow/<name>` when the operations begin. */
  readonly data?: Readonly<Record<string, Json>>;
  readonly order?: readonly string[];
}

/** Runs operations in process, on data that an API answered with. */
export function runWorkflow(
  operations: Readonly<Record<string, object>>,
  options: WorkflowRun = {},
): Promise<RunResult> {
  const { data = {}, order = Object.keys(operations), ...rest } = options;
  const fetches = Object.fromEntries(
    Object.keys(data).map((name) => [
      `fetch-${name}`,
      { ApiCall: { method: 'GET', url: `https://data.example.com/${name}`, outputPath: `/workflow/${name}` } },
    ]),
  );
  const plan = planOf(
    { ...fetches, ...operations },
    { order: [...Object.keys(fetches), ...order], limits: { operations: 100 } },
  );
  const effects = new RecordedEffects(({ url }) => answered(data[url.split('/').at(-1) ?? '']));
  return runPlan(plan, { effects, clock: new TestClock(), timeoutMs: 30_000, ...rest });
}

/** What one operation on `/workflow/in` gives at `/workflow/out`, or its error. */
export async function resultOf(type: string, input: Json, config: object): Promise<unknown> {
  const step = { [type]: { inputPath: '/workflow/in', outputPath: '/workflow/out', ...config } };
  const { results, errors } = await runWorkflow({ step }, { data: { in: input } });
  const [error] = errors;
  return error === undefined ? results.get('step') : { type: error.type, message: error.message };
}
