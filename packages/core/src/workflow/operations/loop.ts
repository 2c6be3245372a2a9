import type { Json } from '@dragoman/protocols';
import { type LoopConfig, OPERATIONS, type Path } from '@dragoman/protocols/a2e-workflow';
import { arrayAt } from '../input.ts';
import type { ItemResult, ItemRun, Operation, StepContext } from '../operation.ts';

/** Runs operations once for each item of an array and collects what the last of them produced, in order (A2E, Loop). */
export const loop: Operation<LoopConfig> = {
  description: OPERATIONS.Loop,
  compile({ inputPath, operations, itemPath, parallel = 1 }, compiling) {
    const input = compiling.path(inputPath);
    const items = ['/loop/item', '/workflow/item', ...(itemPath === undefined ? [] : [itemPath])].map(compiling.path);
    const indexes = ['/loop/index', '/workflow/index'].map(compiling.path);
    const runOf = (item: Json, index: number): ItemRun => ({
      index,
      scope: [...bound(items, item), ...bound(indexes, index)],
      operations,
      apart: parallel > 1,
      independent: true,
    });
    return async (step) => {
      const list = arrayAt(step, input);
      step.account.iterations(list.length);
      // The operations may read other data than the input, so the result has no lineage.
      step.cameFrom('');
      return parallel > 1 ? atOnce(step, list.map(runOf), parallel) : oneByOne(step, list, runOf);
    };
  },
};

async function oneByOne(step: StepContext, list: readonly Json[], runOf: (item: Json, index: number) => ItemRun) {
  const results: Json[] = [];
  let bytes = 2;
  for (const [index, item] of list.entries()) {
    const result = await step.runFor(runOf(item, index));
    bytes += result.bytes + 1;
    step.account.reserve(bytes);
    results.push(result.value);
  }
  step.boundedBy(bytes);
  return results;
}

/** Several items at a time, each on its own fork of the data. The writes are merged in the order of the items. */
async function atOnce(step: StepContext, runs: readonly ItemRun[], parallel: number): Promise<Json> {
  const results = new Array<ItemResult | undefined>(runs.length);
  let next = 0;
  let bytes = 2;
  const work = async () => {
    for (let run = runs[next++]; run !== undefined; run = runs[next++]) {
      const result = await step.runFor(run);
      bytes += result.bytes + 1;
      step.account.reserve(bytes);
      results[run.index] = result;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(parallel, runs.length) }, work));
  for (const result of results) result?.adopt();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  step.boundedBy(bytes);
  return results.map((result) => result?.value ?? null);
}

function bound(paths: readonly Path[], value: Json): (readonly [Path, Json])[] {
  return paths.map((path) => [path, value]);
}
