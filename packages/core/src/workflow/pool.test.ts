import { fileURLToPath } from 'node:url';
import { failure } from '@dragoman/protocols';
import { afterAll, describe, expect, test } from 'vitest';
import { answered, RecordedEffects } from '../../test-support/recorded-effects.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { planOf } from '../../test-support/workflow-plan.ts';
import type { Clock } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { SLICE } from '../text/long-text.ts';
import { loadOperations } from './load-operations.ts';
import { WorkflowPool } from './pool.ts';
import type { PoolResult } from './pool-messages.ts';

// Real threads, so the time is real too.
const clock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
const operations = [fileURLToPath(new URL('./fixtures/own-operations.mjs', import.meta.url))];
const { catalog } = await loadOperations(operations);
const options = { clock, log: new SilentLog(), size: 1, memoryMb: 64, graceMs: 100, operations };
const pool = new WorkflowPool(options);
afterAll(() => pool[Symbol.asyncDispose]());

const fetched = { ApiCall: { method: 'GET', url: 'https://api.example.com/n', outputPath: '/workflow/n' } };
const double = planOf(
  { fetch: fetched, double: { Double: { inputPath: '/workflow/n', outputPath: '/workflow/twice' } } },
  { catalog },
);
const spin = planOf(
  { fetch: fetched, spin: { Spin: { inputPath: '/workflow/n', outputPath: '/workflow/x' } } },
  { catalog },
);
const hoard = planOf(
  { fetch: fetched, hoard: { Hoard: { inputPath: '/workflow/n', outputPath: '/workflow/x' } } },
  { catalog },
);

const filter = planOf({
  fetch: fetched,
  filter: {
    FilterData: {
      inputPath: '/workflow/n',
      conditions: [{ field: 'id', operator: '==', value: 2 }],
      outputPath: '/workflow/x',
    },
  },
});

describe('executions in threads', () => {
  test("run with the operator's own operations and ask the main thread for effects", async () => {
    const effects = new RecordedEffects(() => answered(21));
    const seen: string[] = [];
    const onProgress = ({ event, operationId }: { event: string; operationId: string }) =>
      seen.push(`${event} ${operationId}`);
    const result = await pool.run(double, { effects, timeoutMs: 20_000, onProgress });
    expect(textOf(result)).toBe('{"fetch":21,"double":42}');
    expect(result.status).toBe('success');
    expect(effects.calls.map(({ key }) => key)).toEqual(['fetch']);
    expect(seen).toEqual([
      'operation-started fetch',
      'operation-finished fetch',
      'operation-started double',
      'operation-finished double',
    ]);
  });

  test('hand the places of secrets over as such, and data that looks like one as data', async () => {
    const effects = new RecordedEffects(() => answered({ credential: 'x', id: 'x' }));
    const plan = planOf({
      first: { ApiCall: { method: 'GET', url: 'https://api.example.com/a', outputPath: '/workflow/a' } },
      call: {
        ApiCall: {
          method: 'POST',
          url: 'https://api.example.com/b',
          headers: { Authorization: { credentialRef: { id: 'key' } } },
          body: { token: { credentialRef: { id: 'token' } }, data: { path: '/workflow/a' } },
          outputPath: '/workflow/b',
        },
      },
    });
    await pool.run(plan, { effects, timeoutMs: 20_000 });
    const { request } = effects.calls[1] ?? {};
    expect(request?.headers['Authorization']).toEqual(new CredentialUse('key'));
    const body = request?.body;
    if (body === undefined || !('json' in body)) return expect.unreachable('the body is JSON with a secret in it');
    expect(body.json).toEqual({ token: new CredentialUse('token'), data: { credential: 'x', id: 'x' } });
    expect((body.json as { data: unknown }).data).not.toBeInstanceOf(CredentialUse);
  });

  test('may have only as much data as their thread can hold', async () => {
    const effects = new RecordedEffects(() => answered(Array.from({ length: 500 }, () => 'x'.repeat(20_000))));
    const merge = (input: string, output: string) => ({
      MergeData: { sources: [input, input], strategy: 'concat', outputPath: output },
    });
    const plan = planOf({
      fetch: fetched,
      twice: merge('/workflow/n', '/workflow/a'),
      again: merge('/workflow/a', '/workflow/b'),
    });
    const budgets = { dataBytes: 2e9 };
    const result = await pool.run(plan, { effects, timeoutMs: 20_000, budgets });
    expect(result.errors).toMatchObject([
      { operationId: 'again', details: { budget: 'data_bytes', limit: 64 * 1024 * 1024 } },
    ]);
  });

  const array = (item: string, count: number) => `[${Array.from({ length: count }, () => item).join()}]`;
  const bombs = {
    'an array of numbers': () => array('0', 9_000_000),
    'an array of empty arrays': () => array('[]', 3_000_000),
    'an object with a million members': () => `{${Array.from({ length: 1_000_000 }, (_, at) => `"${at}x":0`).join()}}`,
  };
  test.each(Object.entries(bombs))(
    'one that is answered %s, more than a thread can hold, ends alone',
    async (_, bomb) => {
      const bytes = Buffer.from(bomb());
      const effects = new RecordedEffects(() => ({ ...answered(null), bytes }));
      const result = await pool.run(filter, { effects, timeoutMs: 50_000, budgets: { dataBytes: 2e9 } });
      expect(result.errors).toMatchObject([{ type: 'ExecutionError', details: { budget: 'memory' } }]);
      expect(effects.calls).toHaveLength(1);
      const next = await pool.run(double, { effects: new RecordedEffects(() => answered(2)), timeoutMs: 20_000 });
      expect(textOf(next)).toBe('{"fetch":2,"double":4}');
    },
  );

  test('a text that only looks like much data is accepted', async () => {
    const text = '[{,:'.repeat(2_000_000);
    const effects = new RecordedEffects(() => answered(text));
    const result = await pool.run(planOf({ fetch: fetched }), { effects, timeoutMs: 50_000 });
    expect([result.status, result.used.dataBytes]).toEqual(['success', text.length + 2]);
  });

  test('a failed effect is the error of its operation', async () => {
    const effects = new RecordedEffects(() => {
      throw new Refused(failure('forbidden', { suggestions: ['ask for it'] }, 'not there for you'));
    });
    const result = await pool.run(double, { effects, timeoutMs: 20_000 });
    expect(result).toMatchObject({
      status: 'error',
      skipped: ['double'],
      errors: [
        { type: 'PermissionError', message: 'not there for you', operationId: 'fetch', suggestions: ['ask for it'] },
      ],
    });
  });

  test('one that computes forever is ended in time, and those beside it are done again without asking twice', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const beside = new RecordedEffects(async () => {
      release();
      await clock.wait(600);
      return answered(4);
    });
    const neighbour = pool.run(double, { effects: beside, timeoutMs: 20_000 });
    await released;
    const stuck = await pool.run(spin, { effects: new RecordedEffects(() => answered(60_000)), timeoutMs: 300 });
    expect(stuck.status).toBe('timeout');
    expect(stuck.errors).toMatchObject([{ type: 'TimeoutError' }]);
    expect(textOf(await neighbour)).toBe('{"fetch":4,"double":8}');
    expect(beside.calls).toHaveLength(1);
  });

  test('one that times out while it waits reports its operation, even when its thread started counting later', async () => {
    const log = new SilentLog();
    const timers = new Map<number, () => void>();
    const held: Clock = {
      ...clock,
      elapsed: () => 0,
      after: (milliseconds, callback) => {
        timers.set(milliseconds, callback);
        return () => {};
      },
    };
    await using own = new WorkflowPool({ ...options, log, clock: held });
    const effects = new RecordedEffects(() => {
      timers.get(60_000)?.();
      return new Promise(() => {});
    });
    expect(await own.run(double, { effects, timeoutMs: 60_000 })).toMatchObject({
      status: 'timeout',
      errors: [{ type: 'TimeoutError', operationId: 'fetch' }],
      skipped: ['double'],
    });
    expect(log.lines).toEqual([]);
  });

  test('one that takes all memory ends alone, and those beside it do not notice', async () => {
    let answer = (_: ReturnType<typeof answered>) => {};
    const beside = new RecordedEffects(() => new Promise((resolve) => (answer = resolve)));
    const neighbour = pool.run(double, { effects: beside, timeoutMs: 30_000 });
    const bomb = await pool.run(hoard, { effects: new RecordedEffects(() => answered(1)), timeoutMs: 30_000 });
    expect(bomb).toMatchObject({
      status: 'error',
      errors: [{ type: 'ExecutionError', details: { budget: 'memory' } }],
    });
    answer(answered(5));
    expect(textOf(await neighbour)).toBe('{"fetch":5,"double":10}');
    expect(beside.calls).toHaveLength(1);
  });

  test('a cancelled one reports it, even while it computes', async () => {
    const cancelled = new Refused(failure('cancelled'));
    const waiting = new AbortController();
    const effects = new RecordedEffects(() => {
      waiting.abort(cancelled);
      return new Promise(() => {});
    });
    expect(await pool.run(double, { effects, timeoutMs: 20_000, signal: waiting.signal })).toMatchObject({
      status: 'cancelled',
      errors: [{ operationId: 'fetch' }],
      skipped: ['double'],
    });
    const computing = new AbortController();
    const spinning = new RecordedEffects(() => {
      setTimeout(() => computing.abort(cancelled), 100);
      return answered(60_000);
    });
    const result = await pool.run(spin, { effects: spinning, timeoutMs: 20_000, signal: computing.signal });
    expect(result.status).toBe('cancelled');
  });

  test('a small one needs no thread', async () => {
    // Any thread of this pool fails as it starts.
    await using threadless = new WorkflowPool({ ...options, operations: ['data:text/javascript,throw 1'] });
    const effects = new RecordedEffects(() => answered([{ id: 1 }, { id: 2 }]));
    const result = await threadless.run(filter, { effects, timeoutMs: 20_000 });
    expect(textOf(result)).toBe('{"fetch":[{"id":1},{"id":2}],"filter":[{"id":2}]}');
  });

  test('a small one that grows continues in a thread, and repeats no call and no event', async () => {
    const rows = Array.from({ length: 5000 }, (_, id) => ({ id, text: 'x'.repeat(20) }));
    const effects = new RecordedEffects(() => answered(rows));
    const seen: string[] = [];
    const result = await pool.run(filter, {
      effects,
      timeoutMs: 20_000,
      onProgress: ({ event, operationId }) => seen.push(`${event} ${operationId}`),
    });
    expect(JSON.parse(textOf(result))).toMatchObject({ filter: [rows[2]] });
    expect(effects.calls).toHaveLength(1);
    expect(seen.filter((line) => line === 'operation-started fetch')).toHaveLength(1);
    expect(seen.at(-1)).toBe('operation-finished filter');
  });

  test('results nested too deep to be returned are the error of their execution, and end no thread', async () => {
    const log = new SilentLog();
    await using own = new WorkflowPool({ ...options, log });
    const outputPath = `/workflow/x${'/p'.repeat(30)}`;
    const deep = planOf(
      {
        fetch: fetched,
        now: { GetCurrentDateTime: { outputPath: '/workflow/x/now' } },
        loop: { Loop: { inputPath: '/workflow/n', operations: ['wrap', 'count'] } },
        wrap: { ValidateData: { inputPath: '/workflow/x', validationType: 'email', outputPath } },
        count: { Calculate: { inputPath: '/loop/index', operation: 'abs', outputPath: '/workflow/count' } },
      },
      { order: ['fetch', 'now', 'loop'] },
    );
    const effects = new RecordedEffects(() => answered(new Array(400).fill(1)));
    const result = await own.run(deep, { effects, timeoutMs: 20_000 });
    expect(result.errors).toMatchObject([
      { type: 'DataError', message: 'The results are nested too deep to be returned.' },
    ]);
    expect(result).toMatchObject({ status: 'error', results: '{}' });
    expect(log.lines).toEqual([]);
  });

  test('long results come as bytes that were copied nowhere', async () => {
    const text = 'é'.repeat(SLICE);
    const plan = planOf({ fetch: fetched });
    const { status, results } = await pool.run(plan, {
      effects: new RecordedEffects(() => answered(text)),
      timeoutMs: 20_000,
    });
    expect(status).toBe('success');
    if (!(results instanceof Uint8Array)) return expect.unreachable('they are no bytes');
    expect(results.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(Buffer.from(results).toString() === JSON.stringify({ fetch: text })).toBe(true);
  });

  test('a pool that is closed ends what runs in it', async () => {
    const short = new WorkflowPool(options);
    const pending = short.run(double, { effects: new RecordedEffects(() => new Promise(() => {})), timeoutMs: 20_000 });
    await short[Symbol.asyncDispose]();
    expect((await pending).status).toBe('error');
  });
});

function textOf({ results }: PoolResult): string {
  if (results instanceof Uint8Array) throw new Error('the results are long');
  return results;
}
