// Operations on data, in the thread they run in, against the same work written by hand in the same thread and run: filter,
// sort, group and aggregate. The main thread is watched in the meantime.
import { fileURLToPath } from 'node:url';
import type { Catalog } from '../../packages/core/src/workflow/catalog.ts';
import type { Effects } from '../../packages/core/src/workflow/effects.ts';
import { loadOperations } from '../../packages/core/src/workflow/load-operations.ts';
import { compilePlan, type Plan } from '../../packages/core/src/workflow/plan.ts';
import { WorkflowPool } from '../../packages/core/src/workflow/pool.ts';
import { readWorkflow } from '../../packages/protocols/src/a2e-workflow/index.ts';
import type { Json, JsonObject } from '../../packages/protocols/src/index.ts';
import { jsonLog, systemClock } from '../../packages/server/src/parts/system-ports.ts';
import { mainThreadMs } from '../support/main-thread-ms.ts';
import { table } from '../support/measure.ts';

export async function benchData(): Promise<readonly string[]> {
  const operations = [fileURLToPath(new URL('./operations.mjs', import.meta.url))];
  const { catalog } = await loadOperations(operations);
  const pool = new WorkflowPool({ clock: systemClock, log: jsonLog('error'), size: 1, memoryMb: 6144, operations });
  const shortfalls: string[] = [];
  const rows: string[][] = [['operation', 'rows', 'engine', 'by hand', 'ratio', 'per row', 'main thread held']];
  try {
    // The thread starts, and what it loads is compiled.
    await measured(pool, catalog, 'filter', OPERATIONS['filter'] ?? {}, 1000);
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const perRow = new Map<number, number>();
      const byHand = new Map<number, number>();
      for (const count of COUNTS) {
        const { engine, hand, held } = await measured(pool, catalog, name, operation, count);
        const ratio = engine / hand;
        perRow.set(count, (engine / count) * 1e6);
        byHand.set(count, hand / count);
        const cells = [
          milliseconds(engine),
          milliseconds(hand),
          ratio.toFixed(2),
          `${perRow.get(count)?.toFixed(0)} ns`,
        ];
        rows.push([name, count.toLocaleString('en'), ...cells, milliseconds(held)]);
        if (count >= 100_000 && ratio > MOST_RATIO) {
          shortfalls.push(`${name} of ${count} rows takes ${ratio.toFixed(2)} × by hand; at most ${MOST_RATIO} ×`);
        }
        if (held > MOST_HELD_MS)
          shortfalls.push(`${name} of ${count} rows holds the main thread ${milliseconds(held)}`);
      }
      const growth = (perRow.get(1_000_000) ?? 0) / (perRow.get(10_000) ?? 1);
      // Memory is slower than a cache in any implementation: the cost is flat if it grows as much as by hand.
      const handGrowth = (byHand.get(1_000_000) ?? 0) / (byHand.get(10_000) ?? 1);
      if (growth > MOST_GROWTH * handGrowth) {
        shortfalls.push(
          `${name} costs ${growth.toFixed(1)} × as much a row at 1 M as at 10 k, by hand ${handGrowth.toFixed(1)} ×`,
        );
      }
    }
  } finally {
    await pool[Symbol.asyncDispose]();
  }
  console.log(table(rows));
  return shortfalls;
}

/** The best of several rounds, each of which does both in turn and compares the results. */
async function measured(pool: WorkflowPool, catalog: Catalog, what: string, operation: JsonObject, count: number) {
  const engine: number[] = [];
  const hand: number[] = [];
  const watch = new LoopWatch();
  const result = await pool.run(planFor(catalog, what, operation, count), {
    effects: NO_EFFECTS,
    timeoutMs: 600_000,
    budgets: { dataBytes: 8e9, iterations: 10_000, steps: 1e6 },
    onProgress: (progress) => {
      if (progress.event !== 'operation-finished') return;
      if (progress.operationId === 'engine') engine.push(progress.milliseconds);
      if (progress.operationId === 'hand') hand.push(progress.milliseconds);
    },
  });
  const held = watch.stop();
  if (result.status !== 'success') throw new Error(JSON.stringify(result.errors));
  return { engine: Math.min(...engine), hand: Math.min(...hand), held };
}

function planFor(catalog: Catalog, what: string, operation: JsonObject, count: number): Plan {
  const outputPath = '/workflow/out';
  const steps: Record<string, Json> = {
    rounds: { Rounds: { count: roundsFor(what, count), outputPath: '/workflow/rounds' } },
    rows: { MakeRows: { count, outputPath: '/workflow/rows' } },
    engine: operation,
    hand: { ByHand: { what, inputPath: '/workflow/rows', outputPath: '/workflow/hand' } },
    compare: { Compare: { inputPath: outputPath, outputPath: '/workflow/same' } },
    loop: { Loop: { inputPath: '/workflow/rounds', operations: ['engine', 'hand', 'compare'] } },
  };
  const lines = Object.entries(steps).map(([operationId, each]) => ({
    type: 'operationUpdate',
    operationId,
    operation: each,
  }));
  const begin = { type: 'beginExecution', executionId: 'bench', operationOrder: ['rounds', 'rows', 'loop'] };
  const read = readWorkflow([...lines, begin], { operations: catalog.own });
  if (!read.ok) throw new Error(JSON.stringify(read.issues));
  const compiled = compilePlan(read.value, { catalog });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.findings));
  return compiled.plan;
}

/** Sorting a million takes seconds; what takes less is done more often, for the best to count. */
function roundsFor(what: string, count: number): number {
  if (count < 1_000_000) return 25;
  return what.startsWith('sort') ? 3 : 15;
}

/** How long the main thread computed between two ticks of a timer, at most. */
class LoopWatch {
  #held = 0;
  #last = mainThreadMs();
  readonly #timer = setInterval(() => this.#look(), 1);

  /** Includes the time since the last tick: an execution ends between two ticks. */
  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#held;
  }

  #look(): void {
    const now = mainThreadMs();
    this.#held = Math.max(this.#held, now - this.#last);
    this.#last = now;
  }
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}

const input = { inputPath: '/workflow/rows', outputPath: '/workflow/out' };
const OPERATIONS: Readonly<Record<string, JsonObject>> = {
  filter: {
    FilterData: {
      ...input,
      conditions: [
        { field: 'status', operator: '==', value: 'active' },
        { field: 'points', operator: '>', value: 500 },
      ],
    },
  },
  sort: { TransformData: { ...input, transform: 'sort', config: { field: 'score', order: 'desc' } } },
  sortText: { TransformData: { ...input, transform: 'sort', config: { field: 'name' } } },
  group: { TransformData: { ...input, transform: 'group', config: { field: 'city' } } },
  aggregate: {
    TransformData: {
      ...input,
      transform: 'aggregate',
      config: {
        operations: [
          { operation: 'count', field: 'score', as: 'count' },
          { operation: 'sum', field: 'score', as: 'sum' },
          { operation: 'avg', field: 'score', as: 'mean' },
          { operation: 'min', field: 'score', as: 'least' },
          { operation: 'max', field: 'score', as: 'most' },
        ],
      },
    },
  },
};
const COUNTS = [10_000, 100_000, 1_000_000];
const MOST_RATIO = 1.5;
const MOST_GROWTH = 1.5;
const MOST_HELD_MS = 15;
/** Nothing here asks anything of the world. */
export const NO_EFFECTS: Effects = {
  call: () => Promise.reject(new Error('this benchmark makes no calls')),
  ask: () => Promise.reject(new Error('this benchmark makes no calls')),
  store: () => Promise.reject(new Error('this benchmark makes no calls')),
  wait: () => Promise.reject(new Error('this benchmark makes no calls')),
  approve: () => Promise.reject(new Error('this benchmark makes no calls')),
  now: () => Promise.reject(new Error('this benchmark makes no calls')),
  stored: () => Promise.reject(new Error('this benchmark makes no calls')),
};
