import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import type { Gate, OutboundRequest } from '../gate/gate.ts';
import { Limiter } from '../limits/limiter.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { OpenQuestions } from '../questions/open-questions.ts';
import { RunTable } from '../runs/run-table.ts';
import type { ExecutionRow } from '../store/executions.ts';
import { StoreError } from '../store/store-error.ts';
import { stringOf } from '../text/long-text.ts';
import { openWorkflows } from './workflows.ts';

// Durable before acknowledged, and nothing runs twice: also for executions whose record is written with their end.

const ann: Principal = { id: 'ann', kind: 'agent', permissions: ALL_PERMISSIONS };
const get = {
  fetch: { ApiCall: { method: 'GET', url: 'https://api.example.com/users', outputPath: '/workflow/users' } },
};
const post = {
  send: { ApiCall: { method: 'POST', url: 'https://api.example.com/users', outputPath: '/workflow/sent' } },
};

test('one that only reads is recorded once, with its end, before it is answered', async () => {
  const { execute, answer, writes, find } = workflows();
  const running = execute(get, 'e1');
  await answer('[1]');
  const result = JSON.parse(await stringOf(await running));
  expect(result).toMatchObject({ execution_id: 'e1', status: 'success', results: { fetch: [1] } });
  expect(writes).toEqual(['accept ended']);
  expect(JSON.parse(await stringOf((await find('e1')) ?? ''))).toEqual(result);
});

test.each([
  ['one that changes something', post, { waits: true }],
  ['one whose caller gets events at once', get, { waits: false }],
  ['one with an idempotency key', get, { waits: true, idempotencyKey: 'k' }],
])('%s is recorded before it does anything', async (_, operations, context) => {
  const { execute, answer, writes, requests } = workflows();
  const running = execute(operations, 'e1', context);
  await expect.poll(() => requests.length).toBe(1);
  expect(writes).toContain('accept');
  await answer('[1]');
  await running;
  expect(writes).not.toContain('accept ended');
});

test('a running execution is recorded before it is looked up: by its id, in the list, by its events', async () => {
  for (const ask of ['find', 'list', 'events'] as const) {
    const { execute, answer, writes, requests, executions } = workflows();
    const running = execute(get, 'e1');
    await expect.poll(() => requests.length).toBe(1);
    expect(writes).toEqual([]);
    if (ask === 'find') expect(await executions.find(E1)).toContain('"status":"running"');
    if (ask === 'events') expect(await executions.follow(E1)).toBeDefined();
    if (ask === 'list')
      expect((await executions.list('ann', { limit: 5 })).rows).toMatchObject([{ status: 'running' }]);
    await answer('[1]');
    await running;
    expect(writes).toEqual(['accept', 'finish']);
  }
});

test('an execution that takes longer than 50 ms is recorded in the meantime, and continues after a crash', async () => {
  const { execute, answer, writes, requests, pass, store } = workflows();
  const running = execute(get, 'e1');
  await expect.poll(() => requests.length).toBe(1);
  pass(60);
  await expect.poll(() => writes).toEqual(['accept']);
  expect(await store.executions.find({ owner: 'ann', executionId: 'e1' })).toMatchObject({ end: null });
  await answer('[1]');
  await running;
  expect(writes).toEqual(['accept', 'finish']);
});

test('a repeat is answered from the record, with no second call; another plan is a conflict', async () => {
  const { execute, answer, requests } = workflows();
  const running = execute(get, 'e1');
  await answer('[1]');
  const result = await running;
  expect(await execute(get, 'e1')).toBe(result);
  expect(requests).toHaveLength(1);
  await expect(execute({ ...get, more: post.send }, 'e1')).rejects.toMatchObject({ failure: { code: 'conflict' } });
});

test('a repeat after a restart may read again, and is answered from the record all the same', async () => {
  const first = workflows();
  const running = first.execute(get, 'e1');
  await first.answer('[1]');
  const result = await running;
  const second = workflows(first.store);
  const again = second.execute(get, 'e1');
  await second.answer('[2]');
  expect(await again).toBe(result);
  const other = second.execute({ other: get.fetch }, 'e1');
  await expect(other).rejects.toMatchObject({ failure: { code: 'conflict' } });
});

test('two that ask the same at once run it once', async () => {
  const { execute, answer, requests } = workflows();
  const both = Promise.all([execute(get, 'e1'), execute(get, 'e1')]);
  await answer('[1]');
  const [one, other] = await both;
  expect(one).toBe(other);
  expect(requests).toHaveLength(1);
});

test('an execution that cannot be recorded is not answered', async () => {
  const store = memoryStore();
  const full = () => Promise.reject(new StoreError('store_unavailable', 'The disk is full.'));
  const { execute, answer } = workflows(store, { ...store.executions, accept: full });
  const running = execute(get, 'e1');
  await Promise.all([answer('[1]'), expect(running).rejects.toMatchObject({ code: 'store_unavailable' })]);
});

test('one whose end cannot be recorded waits for the store, logs it once, and does nothing twice', async () => {
  const store = memoryStore();
  let refusals = 3;
  const { execute, answer, writes, requests, pass, log } = workflows(store, {
    ...store.executions,
    finish: async (...values) => {
      if (refusals-- > 0) throw new StoreError('store_unavailable', 'The disk is full.');
      return store.executions.finish(...values);
    },
  });
  const running = execute(post, 'e1');
  await answer('[1]');
  await expect
    .poll(() => {
      pass(5000);
      return writes;
    })
    .toEqual(['accept', 'finish', 'finish', 'finish', 'finish']);
  expect(JSON.parse(await stringOf(await running))).toMatchObject({ status: 'success', results: { send: [1] } });
  expect(requests).toHaveLength(1);
  expect(log.lines).toMatchObject([
    { level: 'warn', message: 'an execution could not be recorded yet', fields: { execution_id: 'e1' } },
  ]);
});

const E1 = { owner: 'ann', executionId: 'e1' };

function workflows(store = memoryStore(), kept = store.executions) {
  const writes: string[] = [];
  const requests: OutboundRequest[] = [];
  const waiting: ((body: string) => void)[] = [];
  const timers: { at: number; run: () => void }[] = [];
  const log = new SilentLog();
  let now = 1_000_000;
  const clock: Clock = {
    now: () => new Date(now),
    elapsed: () => now,
    wait: (milliseconds) => new Promise((run) => timers.push({ at: now + milliseconds, run })),
    after: (milliseconds, run) => {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  };
  const gate: Gate = {
    check: async () => undefined,
    request: async (request) => {
      requests.push(request);
      const body = await new Promise<string>((resolve) => waiting.push(resolve));
      const bytes = async function* () {
        yield new TextEncoder().encode(body);
      };
      return { status: 200, headers: { 'content-type': 'application/json' }, body: bytes() };
    },
  };
  const noted: typeof kept = {
    ...kept,
    accept: (row: ExecutionRow) => {
      writes.push(row.end === null ? 'accept' : 'accept ended');
      return kept.accept(row);
    },
    finish: (...values) => {
      writes.push('finish');
      return kept.finish(...values);
    },
  };
  const { executions, reader } = openWorkflows({
    store: Object.assign(Object.create(store), { executions: noted }),
    runs: new RunTable({ clock }),
    folder: '/nowhere',
    gate,
    apis: { version: 1, list: () => [], find: () => undefined },
    credentials: { list: () => [], find: () => undefined, noteRefusal: () => {}, redactorFor: () => undefined },
    limiter: new Limiter({ clock }),
    askTarget: () => Promise.reject(new Error('no target is called here')),
    questions: new OpenQuestions({ clock, ids, log }),
    principalNamed: () => ann,
    clock,
    ids,
    log,
    limits: { cache_seconds: 0 },
  });
  return {
    store,
    log,
    executions,
    writes,
    requests,
    find: (id: string) => executions.find({ owner: 'ann', executionId: id }),
    execute: async (operations: object, id: string, context: object = { waits: true }) => {
      const read = reader.read({ workflow: linesOf(operations, id) });
      if (!read.ok) throw new Error(JSON.stringify(read));
      return (await executions.execute(read.request, { principal: ann, ...context })).result();
    },
    answer: async (body: string) => {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      waiting.shift()?.(body);
    },
    pass: (milliseconds: number) => {
      now += milliseconds;
      for (const timer of timers.filter(({ at }) => at <= now)) timer.run();
    },
  };
}

function linesOf(operations: object, executionId: string): string {
  const lines: object[] = Object.entries(operations).map(([operationId, operation]) => ({
    type: 'operationUpdate',
    operationId,
    operation,
  }));
  lines.push({ type: 'beginExecution', executionId, operationOrder: Object.keys(operations) });
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

const ids: Ids = { hex: () => '0'.repeat(32), sortable: () => '0'.repeat(32), uuid: () => '0' };
