import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { compiledFrom, planOf } from '../../test-support/workflow-plan.ts';
import { BUILT_IN } from './catalog.ts';
import { explainPlan } from './explain.ts';
import { loadOperations } from './load-operations.ts';

const OWN_OPERATIONS = fileURLToPath(new URL('./fixtures/own-operations.mjs', import.meta.url));

const fetchUsers = {
  ApiCall: {
    method: 'GET',
    url: 'https://api.example.com/users/{/workflow/id}',
    headers: { Authorization: { credentialRef: { id: 'key' } } },
    outputPath: '/workflow/users',
  },
};
const id = { GetCurrentDateTime: { outputPath: '/workflow/id' } };

describe('a plan', () => {
  test('has a hash that names the workflow, the catalogue and the options, and nothing else', async () => {
    const operations = { id, fetch: fetchUsers };
    const { hash } = planOf(operations);
    expect(planOf(operations).hash).toBe(hash);
    const swapped = { id, fetch: { ApiCall: Object.fromEntries(Object.entries(fetchUsers.ApiCall).reverse()) } };
    expect(planOf(swapped).hash).toBe(hash);
    expect(planOf(operations, { options: { onError: 'continue' } }).hash).not.toBe(hash);
    expect(planOf(operations, { limits: { steps: 5 } }).hash).not.toBe(hash);
    expect(planOf(operations, { order: ['id'] }).hash).not.toBe(hash);
    expect(
      planOf({ ...operations, id: { GetCurrentDateTime: { timezone: 'UTC', outputPath: '/workflow/id' } } }).hash,
    ).not.toBe(hash);
    const { catalog: own } = await loadOperations([OWN_OPERATIONS]);
    expect(planOf(operations, { catalog: own }).hash).not.toBe(hash);
  });

  test.each([
    [
      { GetCurrentDateTime: { timezone: 'Mars/Base', outputPath: '/workflow/x' } },
      '/operation/GetCurrentDateTime/timezone',
      'must be an IANA time zone',
    ],
    [
      { GetCurrentDateTime: { format: 'custom', formatString: '%Q', outputPath: '/workflow/x' } },
      '/operation/GetCurrentDateTime/formatString',
      '%Q',
    ],
    [
      { ExtractText: { inputPath: '/store/x', pattern: '(?<=a)b', outputPath: '/workflow/x' } },
      '/operation/ExtractText/pattern',
      'pattern cannot be used',
    ],
  ])('is refused for what only the engine can see', (operation, pointer, message) => {
    const outcome = compiledFrom({ step: operation }, { stored: ['x'] });
    expect(outcome.ok).toBe(false);
    if (outcome.ok) return;
    expect(outcome.findings).toMatchObject([
      { severity: 'error', operationId: 'step', pointer, message: expect.stringContaining(message) },
    ]);
  });

  test('lists what it will read, write, call and use, and the minimum cost', () => {
    const plan = planOf(
      {
        id,
        fetch: fetchUsers,
        loop: { Loop: { inputPath: '/workflow/users', operations: ['check'], outputPath: '/workflow/all' } },
        check: { Conditional: { condition: { path: '/loop/item', operator: 'exists' }, ifTrue: ['pause'] } },
        pause: { Wait: { duration: 500 } },
      },
      { order: ['id', 'fetch', 'loop'] },
    );
    const { steps, estimate, plan_hash } = explainPlan(plan);
    expect(plan_hash).toBe(plan.hash);
    expect(steps.map(({ operationId, depth, runs }) => [operationId, depth, runs])).toEqual([
      ['id', 0, 'once'],
      ['fetch', 0, 'once'],
      ['loop', 0, 'once'],
      ['check', 1, 'each'],
      ['pause', 2, 'each'],
    ]);
    expect(steps[1]).toEqual({
      operationId: 'fetch',
      type: 'ApiCall',
      depth: 0,
      runs: 'once',
      reads: ['/workflow/id'],
      writes: ['/workflow/users'],
      calls: { method: 'GET', origin: 'https://api.example.com', path: '/users/*' },
      credentials: ['key'],
    });
    expect(steps[4]?.inside).toEqual({ operationId: 'check', list: 'ifTrue' });
    expect(estimate).toEqual({ steps: 5, api_calls: 1, at_least: true, wait_ms: 500 });
  });
});

describe('the catalogue', () => {
  test('takes operations of the operator’s own, which are then read, checked and permitted like the others', async () => {
    const { catalog } = await loadOperations([OWN_OPERATIONS]);
    const operations = { id, double: { Double: { inputPath: '/workflow/id', outputPath: '/workflow/x' } } };
    expect(compiledFrom(operations, { catalog }).ok).toBe(true);
    const outcome = compiledFrom(operations, { catalog, permissions: { operations: ['GetCurrentDateTime'] } });
    expect(outcome.ok ? [] : outcome.findings).toMatchObject([
      { code: 'operation_not_allowed', operationId: 'double' },
    ]);
    expect(() => compiledFrom(operations)).toThrow('is not an operation');
    expect(() =>
      compiledFrom({ double: { Double: { inputPath: 1, outputPath: '/workflow/x' } } }, { catalog }),
    ).toThrow();
  });

  test('does not let a built-in one be replaced', () => {
    const wait = BUILT_IN.find('Wait');
    expect(() => BUILT_IN.with(wait === undefined ? {} : { Wait: wait })).toThrow('the operation Wait already exists');
  });
});
