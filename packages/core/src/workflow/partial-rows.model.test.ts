import type { Json } from '@dragoman/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answered, RecordedEffects } from '../../test-support/recorded-effects.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { planOf } from '../../test-support/workflow-plan.ts';
import { wholeText } from '../brief-text.ts';
import { StandIn } from '../stand-in.ts';
import { PartialRows } from './partial-rows.ts';
import type { Plan } from './plan.ts';
import { MemoryResultCache, type ResultCache } from './result-cache.ts';
import { resultsText } from './results-text.ts';
import { runPlan } from './run.ts';

const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom('', 'a', 'b', 'ab'),
  fc.boolean(),
  fc.constant(null),
);
const users = fc.array(fc.record({ a: value, b: value, c: value }), { minLength: 20, maxLength: 40 });
const field = fc.constantFrom('a', 'b', 'none');
const condition = fc.oneof(
  fc.record({ field, operator: fc.constantFrom('==', '!='), value }),
  fc.record({ field, operator: fc.constantFrom('>', '<='), value: fc.constantFrom<Json>(0, 1, 'a') }),
  fc.record({ field, operator: fc.constant('startsWith'), value: fc.constant('a') }),
);

/** What can be done with an array of objects. */
const step = fc.oneof(
  condition.map((one) => ({ FilterData: { conditions: [one] } })),
  fc.record({ field, order: fc.constantFrom('asc', 'desc') }).map((config) => transform('sort', config)),
  field.map((name) =>
    transform('aggregate', { operations: [{ operation: 'count' }, { operation: 'sum', field: name }] }),
  ),
  field.map((name) => transform('select', { fields: [name] })),
  field.map((name) => transform('map', { fields: { [name]: 'renamed' } })),
  field.map((name) => transform('group', { field: name })),
);

function transform(kind: string, config: object) {
  return { TransformData: { transform: kind, config } };
}

/** Steps in a row, each on what one before it gave. */
function planFor(steps: readonly Record<string, object>[], inputs: readonly number[]): Plan {
  const fetch = { ApiCall: { method: 'GET', url: 'https://api.example.com/users', outputPath: '/workflow/s-0' } };
  const arrays = ['s-0'];
  const operations = steps.map((operation, at) => {
    const [[type = '', config] = []] = Object.entries(operation);
    const inputPath = `/workflow/${arrays[(inputs[at] ?? 0) % arrays.length]}`;
    const id = `s-${at + 1}`;
    if (!/aggregate|group/.test(JSON.stringify(operation))) arrays.push(id);
    return [id, { [type]: { ...config, inputPath, outputPath: `/workflow/${id}` } }] as const;
  });
  // The last sends something: what was computed before it is named by a digest, which is recorded.
  const send = { ApiCall: { method: 'POST', url: 'https://api.example.com/done', outputPath: '/workflow/sent' } };
  const plan = planOf({ 's-0': fetch, ...Object.fromEntries(operations), send });
  const atOnce = [...plan.partialRows].map(([id, { names }]) => [id, new PartialRows(names, 1)] as const);
  return { ...plan, partialRows: new Map(atOnce) };
}

async function told(plan: Plan, rows: Json, cache?: ResultCache) {
  const effects = new RecordedEffects(() => ({ ...answered(rows), lineage: 'the same' }));
  const run = await runPlan(plan, { effects, clock: new TestClock(), timeoutMs: 30_000, cache, onError: 'continue' });
  const text = wholeText(resultsText(run.results, run.written));
  return {
    results: JSON.parse(text),
    errors: run.errors,
    digests: effects.calls.map(({ digest }) => digest),
    used: run.used,
    isPartly: (run.results.get('s-0') as Json[])[0] instanceof StandIn,
  };
}

test('a plan that reads its rows in part gives what it gives when it reads them whole', async () => {
  const seen = { partly: 0 };
  const property = fc.asyncProperty(
    users,
    fc.array(step, { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(3)),
    async (rows, steps, inputs) => {
      const plan = planFor(steps, inputs);
      const partly = await told(plan, rows);
      if (partly.isPartly) seen.partly++;
      expect(partly).toEqual({ ...(await told({ ...plan, partialRows: new Map() }, rows)), isPartly: partly.isPartly });
    },
  );
  await fc.assert(property, { numRuns: 300 });
  expect(seen.partly).toBeGreaterThan(50);
});

test('what was read in part is kept for those alone who need no more', async () => {
  const cache = new MemoryResultCache({ clock: new TestClock(), maxBytes: 1_000_000 }).of('agent');
  const rows = Array.from({ length: 40 }, (_, at) => ({ a: at % 2, b: `b-${at}`, c: 'some more text' }));
  const filter = { FilterData: { conditions: [{ field: 'a', operator: '==', value: 1 }] } };
  const select = transform('select', { fields: ['b'] });
  await told(planFor([filter], []), rows, cache);
  const { results } = await told(planFor([filter, select], [0, 1]), rows, cache);
  expect(results['s-2']).toEqual(rows.filter(({ a }) => a === 1).map(({ b }) => ({ b })));
});
