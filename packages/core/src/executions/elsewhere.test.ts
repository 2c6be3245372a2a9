import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { systemClock as clock } from '../../test-support/system-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Limiter } from '../limits/limiter.ts';
import { OpenQuestions } from '../questions/open-questions.ts';
import { RunTable } from '../runs/run-table.ts';
import type { ExecutionsElsewhere } from './elsewhere.ts';
import { openWorkflows } from './workflows.ts';

// After the death of a node, one node may take over a request, and another the execution that answers it.

const ann: Principal = { id: 'ann', kind: 'agent', permissions: ALL_PERMISSIONS };
const key = { owner: 'ann', executionId: 'e1' };
const eventOf = (sequence: number) => ({
  sequence,
  event: 'operation-started' as const,
  data: `{"sequence":${sequence}}`,
});

const ROW = { ...key, digest: 'd', idempotencyKey: null, request: '{}', acceptedAt: 1, end: null };
const RUNNING: ExecutionsElsewhere = {
  cancel: async () => false,
  isRunning: async () => true,
  isParked: () => new Promise(() => {}),
  eventsAfter: () => new Promise(() => {}),
  soFar: async () => undefined,
};

test('a request is joined to an execution that another node has taken over, before that ends', async () => {
  const store = memoryStore();
  const accepted = await store.executions.accept(ROW);
  const { executions } = workflows(store);
  const recorded = [0, 1].map(eventOf);
  let isTaken = false;
  executions.join({
    ...RUNNING,
    isRunning: async () => isTaken,
    eventsAfter: async (_, after) => {
      await clock.wait(5);
      return recorded.slice(after + 1);
    },
  });
  const joining = executions.continued(key, new AbortController().signal);
  isTaken = true;
  const events = (await joining)?.events(0)[Symbol.asyncIterator]();
  expect((await events?.next())?.value).toEqual(eventOf(1));
  const next = events?.next();
  recorded.push(eventOf(2));
  expect((await next)?.value).toEqual(eventOf(2));
  if (accepted.repeat || accepted.held === null) throw new Error('it was there before');
  const end = {
    status: 'success',
    result: '{}',
    events: JSON.stringify(recorded.map(({ data }) => JSON.parse(data))),
    endedAt: 2,
  };
  await store.executions.finish(accepted.held, [], end);
  expect((await events?.next())?.value).toMatchObject({ sequence: 3, event: 'execution-finished' });
  expect((await events?.next())?.done).toBe(true);
});

test('the reader of an execution that waits for a person on another node learns it', async () => {
  const store = memoryStore();
  await store.executions.accept(ROW);
  const { executions } = workflows(store);
  let looks = 0;
  const isParked = async () => {
    looks += 1;
    return looks === 3;
  };
  executions.join({ ...RUNNING, isParked });
  const execution = await executions.follow(key);
  expect(await execution?.resultUnlessParked(new AbortController())).toBeUndefined();
  expect(looks).toBe(3);
});

test('nothing looks for the result of an execution on another node when its reader has left', async () => {
  const store = memoryStore();
  await store.executions.accept(ROW);
  const { executions } = workflows(store);
  executions.join(RUNNING);
  const execution = await executions.follow(key);
  const left = new AbortController();
  const result = execution?.resultUnlessParked(left);
  left.abort();
  await expect(result).rejects.toMatchObject({ failure: { code: 'cancelled' } });
});

test('a reader that leaves is not waited for', async () => {
  const store = memoryStore();
  await store.executions.accept(ROW);
  const { executions } = workflows(store);
  executions.join(RUNNING);
  const leaving = new AbortController();
  const events = (await executions.follow(key))?.events(-1, leaving.signal)[Symbol.asyncIterator]();
  const next = events?.next();
  leaving.abort(new Error('left'));
  expect(await next).toEqual({ done: true, value: undefined });
});

function workflows(store: ReturnType<typeof memoryStore>) {
  const [log, ids] = [new SilentLog(), new TestIds()];
  return openWorkflows({
    store,
    runs: new RunTable({ clock }),
    folder: '/nowhere',
    gate: { check: async () => undefined, request: () => Promise.reject(new Error('nothing is called here')) },
    apis: { version: 1, list: () => [], find: () => undefined },
    credentials: { list: () => [], find: () => undefined, noteRefusal: () => {}, redactorFor: () => undefined },
    limiter: new Limiter({ clock }),
    askTarget: () => Promise.reject(new Error('nothing is asked here')),
    questions: new OpenQuestions({ clock, ids, log }),
    principalNamed: () => ann,
    clock,
    ids,
    log,
  });
}
