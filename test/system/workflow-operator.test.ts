import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CountingApi } from './counting-api.ts';
import { System } from './system.ts';
import { fresh, WorkflowCaller, workflowOf } from './workflow-caller.ts';

const api = await CountingApi.start();
const OWN = new URL('../../packages/core/src/workflow/fixtures/own-operations.mjs', import.meta.url).pathname;
const many = 1_000_000;
const system = await System.start({
  config: {
    apis: { counting: { base_url: api.url } },
    gate: { allow: [api.host] },
    workflows: {
      cache_seconds: 0,
      max_operations: 7,
      max_workflow_bytes: 300_000,
      timeout_ms: 9000,
      max_timeout_ms: 1_200_000,
      operations: [OWN],
    },
    limits: {
      requests_per_minute: many,
      requests_per_hour: many,
      api_calls_per_minute: many,
      api_calls_per_hour: many,
    },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const callerOf = async (id: string, operations: readonly string[]) =>
  new WorkflowCaller(
    system,
    (await system.caller(id, { permissions: { operations: [...operations], apis: ['*'] } })).api_key,
  );
const ann = await callerOf('ann-agent', ['*']);
const bob = await callerOf('bob-agent', ['ApiCall']);

describe("an operator's own operations", () => {
  api.answers('GET /n', 21);
  const double = workflowOf({
    n: { ApiCall: { method: 'GET', url: `${api.url}/n`, outputPath: '/workflow/n' } },
    double: { Double: { inputPath: '/workflow/n', outputPath: '/workflow/twice' } },
  });

  test('are announced, checked and run as any other', async () => {
    const { json } = await ann.get('capabilities');
    const { capabilities } = json as {
      capabilities: { supportedOperations: string[]; securityConstraints: JsonObject };
    };
    expect(capabilities.supportedOperations).toEqual(expect.arrayContaining(['ApiCall', 'Double']));
    expect(capabilities.securityConstraints).toEqual({ maxExecutionTime: 9000, maxOperations: 7 });
    expect(await ann.validate(double)).toMatchObject({ valid: true });
    expect(await ann.execute(double)).toMatchObject({ status: 'success', results: { n: 21, double: 42 } });
    const wrong = workflowOf({ double: { Double: { inputPath: 7, outputPath: '/workflow/twice' } } });
    expect(await ann.validate(wrong)).toMatchObject({ valid: false });
  });

  test('are found by a search, and used only with permission', async () => {
    const query = { method: 'POST', path: '/api/v1/knowledge/search', json: { query: 'doubles a number' } } as const;
    expect(await (await ann.call(query)).text()).toContain('"Double"');
    expect(await (await bob.call(query)).text()).not.toContain('"Double"');
    const answer = await bob.post('execute', { workflow: double });
    expect(answer.status).toBe(403);
  });
});

test('an API that keeps failing is left alone, for the one it failed', async () => {
  api.answers('POST /down', { message: 'no' }, { status: 500 });
  const send = (caller: WorkflowCaller) =>
    caller.execute(
      workflowOf({ send: { ApiCall: { method: 'POST', url: `${api.url}/down`, outputPath: '/workflow/x' } } }),
    );
  for (let times = 1; times <= 5; times++) {
    expect(await send(ann)).toMatchObject({ status: 'error', error: { details: { statusCode: 500 } } });
    expect(api.count('POST /down')).toBe(times);
  }
  const left = await send(ann);
  expect(left).toMatchObject({ status: 'error', error: { details: { circuit: 'open' } } });
  expect(left.error?.message).toMatch(/next call is allowed in \d+ s/);
  expect(api.count('POST /down')).toBe(5);
  expect(await send(bob)).toMatchObject({ error: { details: { statusCode: 500 } } });
  expect(api.count('POST /down')).toBe(6);
});

describe('validate and execute', () => {
  /** Mostly one of the first, so that many workflows are valid. */
  const mostly = <T, U>(good: readonly T[], bad: readonly U[]) =>
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...bad) });
  const input = mostly(
    ['/workflow/a', '/workflow/now'],
    ['/workflow/c.d', '/loop/current', '/store/x', 'workflow/a', 7],
  );
  const output = mostly(['/workflow/a', '/workflow/b'], ['/store/x', '/workflow', 'b', null]);
  const right = fc.constantFrom(null, 0, -1, 'x', '', true, [], {});
  const config = fc.record({
    inputPath: input,
    outputPath: output,
    transform: mostly(['sort', 'select'], ['turn', 1]),
    config: mostly([{ field: 'x' }, { fields: ['x'] }], [{}, null, { order: 'up' }]),
    conditions: fc.array(fc.record({ field: fc.constant('x'), operator: mostly(['==', '>'], ['~']), value: right }), {
      minLength: 1,
      maxLength: 2,
    }),
    operation: mostly(['abs', 'add', 'round'], ['fly']),
    operand: mostly([0, 2], ['x', null]),
    condition: fc.record({ path: input, operator: mostly(['exists', '=='], ['is']), value: right }),
    ifTrue: mostly([['first']], [['nobody'], 'a', ['a']]),
    operations: mostly([['first']], [['a'], []]),
    duration: mostly([0, 1], [-1, 'long']),
    key: mostly(['k'], ['']),
    storage: mostly(['sessionStorage', 'localStorage'], ['cloud']),
    sources: fc.array(input, { minLength: 2, maxLength: 3 }),
    strategy: mostly(['concat', 'union'], ['none']),
  });
  const type = fc.constantFrom(
    ...[
      'FilterData',
      'TransformData',
      'Conditional',
      'Loop',
      'StoreData',
      'Wait',
      'MergeData',
      'Calculate',
      'FormatText',
    ],
    ...['GetCurrentDateTime', 'ValidateData', 'EncodeDecode', 'Double', 'Unknown'],
  );
  /** What a type wants. */
  const WANTED: Readonly<Record<string, readonly string[]>> = {
    FilterData: ['inputPath', 'conditions', 'outputPath'],
    TransformData: ['inputPath', 'transform', 'config', 'outputPath'],
    Conditional: ['condition', 'ifTrue'],
    Loop: ['inputPath', 'operations', 'outputPath'],
    StoreData: ['inputPath', 'storage', 'key'],
    Wait: ['duration'],
    MergeData: ['sources', 'strategy', 'outputPath'],
    Calculate: ['inputPath', 'operation', 'operand', 'outputPath'],
    Double: ['inputPath', 'outputPath'],
    GetCurrentDateTime: ['outputPath'],
  };
  const isRough = fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
  const operation = fc.tuple(type, config, isRough).map(([name, all, isWhole]): JsonObject => {
    const wanted = WANTED[name];
    const kept = Object.entries(all).filter(([member]) => isWhole || wanted === undefined || wanted.includes(member));
    return { [name]: Object.fromEntries(kept) } as JsonObject;
  });
  const time = { GetCurrentDateTime: { outputPath: '/workflow/now' } };

  test('never differ: what is valid runs without a ValidationError, and nothing else runs', async () => {
    let valid = 0;
    const workflow = fc.record(
      { first: fc.constantFrom(time), a: operation, b: operation },
      { requiredKeys: ['first'] },
    );
    await fc.assert(
      fc.asyncProperty(workflow, async (operations) => {
        const lines = workflowOf(operations as Record<string, JsonObject>, { id: fresh() });
        const report = await ann.validate(lines);
        const answer = await ann.post('execute', { workflow: lines });
        const body = JSON.parse(await answer.text());
        const types = [body.error, ...(body.errors ?? [])].map((error) => error?.type);
        expect(answer.status === 200, JSON.stringify({ report, body })).toBe(report.valid);
        expect(types.includes('ValidationError'), JSON.stringify({ report, body })).toBe(!report.valid);
        if (report.valid) valid++;
      }),
      { numRuns: 120 },
    );
    expect(valid).toBeGreaterThan(3);
  });
});

test('a workflow may be as large as the configured limit', async () => {
  const sized = (length: number) => ({
    workflow: `${workflowOf({ wait: { Wait: { duration: 0 } } })}${'\n'.repeat(length)}`,
  });
  // Each line break takes two bytes of JSON.
  expect((await ann.post('validate', sized(145_000))).status).toBe(200);
  const answer = await ann.post('validate', sized(150_000));
  expect(answer.status).toBe(413);
  expect(await answer.text()).toContain('300000');
});

test('an execution may ask for as long as the operator lets it, and for no longer', async () => {
  const workflow = workflowOf({ now: { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/now' } } });
  expect(await ann.validate(workflow, { timeout_ms: 1_200_000 })).toMatchObject({ valid: true });
  const report = await ann.validate(workflow, { timeout_ms: 1_200_001 });
  expect(report).toMatchObject({ valid: false, errors: [{ message: 'timeout_ms must be at most 1200000 here' }] });
});
