import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import type { Gate, OutboundRequest } from '../gate/gate.ts';
import { Signatures } from '../signing/signatures.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { Outbox, type OutboxSettings } from './outbox.ts';
import { SigningKeys } from './signing-keys.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

let clock: TestClock;
let store: SqliteStore;
let outbox: Outbox;
/** The ids whose bodies were read, in order. */
let read: string[];
let sent: OutboundRequest[];
/** Answers the oldest request that has no answer yet. */
let waiting: ((status: number) => void)[];

const gate: Gate = {
  check: async () => undefined,
  request: async (request) => {
    sent.push(request);
    const status = await new Promise<number>((resolve, reject) => {
      waiting.push(resolve);
      request.signal?.addEventListener('abort', () => reject(request.signal?.reason), { once: true });
    });
    return { status, headers: {}, body: (async function* () {})() };
  },
};

beforeEach(() => {
  clock = new TestClock();
  store = memoryStore();
  [read, sent, waiting] = [[], [], []];
  const { dueBody } = store.outbox;
  store.outbox.dueBody = (id) => {
    read.push(id);
    return dueBody(id);
  };
});
afterEach(async () => {
  const stopped = outbox.stop({ drainMs: 0 });
  clock.pass(1);
  await stopped;
});

interface Started {
  readonly body?: string;
  readonly hosts?: number;
  readonly settings?: Partial<OutboxSettings>;
}

async function start(count: number, { body = '{}', hosts = 1, settings = {} }: Started = {}): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    await store.outbox.add({ ...callback(number, `${number % hosts}.example`), body });
  }
  const { outbox: rows } = nextProcess(store);
  const log = new SilentLog();
  const keys = new SigningKeys({ store: store.outbox, signatures });
  const parts = { store: { ...store.outbox, claim: rows.claim }, gate, keys, clock, ids: new TestIds(), log };
  outbox = new Outbox({ ...parts, isRegistered: () => false, settings });
  await outbox.start();
}

function callback(number: number, host: string) {
  const names = { id: `cb-${number}`, owner: 'ann', requestId: `msg_${number}`, messageId: `answer_${number}` };
  return { ...names, url: `https://${host}/in`, body: '{}', priority: 1, expiresAt: null, createdAt: number };
}

/** Answers everything that comes, until so many were sent. */
async function answerUntil(count: number, status: number): Promise<void> {
  await eventually(() => {
    for (const answer of waiting.splice(0)) answer(status);
    return sent.length;
  }).toBe(count);
  for (const answer of waiting.splice(0)) answer(status);
  await eventually(() => outbox.trying).toBe(0);
}

/** Signatures are made asynchronously by a thread. */
const eventually = <Value>(look: () => Value) => expect.poll(look, { interval: 1, timeout: 30_000 });

const idsSent = () => sent.map(({ headers }) => String(headers?.['webhook-id']).replace('answer_', 'cb-'));
const byNumber = (one: string, other: string) => Number(one.slice(3)) - Number(other.slice(3));
const names = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `cb-${from + index}`);

/** Sends to one host, and answers the first: from then on it has four places, and others are made before their turn. */
async function startAhead(count: number, started: Started = {}): Promise<void> {
  await start(count, started);
  await answerFirst();
  await eventually(() => read.length).toBe(9);
}

async function answerFirst(): Promise<void> {
  await eventually(() => waiting.length).toBe(1);
  waiting.shift()?.(200);
  await eventually(() => waiting.length).toBe(4);
}

test('the next for a host are read and signed, some at a time, while those before them are sent', async () => {
  await startAhead(40);
  expect(idsSent()).toEqual(names(1, 5));
  expect(read.toSorted(byNumber)).toEqual(names(1, 9));
  waiting.shift()?.(200);
  await eventually(idsSent).toEqual(names(1, 6));
  expect(read.slice(9)).toEqual(names(10, 13));
  for (const _ of names(7, 9)) waiting.shift()?.(200);
  await eventually(idsSent).toEqual(names(1, 9));
  expect(read).toHaveLength(13);
});

test('each is read once and sent once, with its own id and the time of its try', async () => {
  await start(40);
  await answerUntil(40, 204);
  expect(idsSent().toSorted(byNumber)).toEqual(names(1, 40));
  expect(read.toSorted(byNumber)).toEqual(names(1, 40));
  const seconds = Math.floor(clock.now().getTime() / 1000);
  expect(new Set(sent.map(({ headers }) => headers?.['webhook-timestamp']))).toEqual(new Set([String(seconds)]));
});

test.each([
  ['a callback that waited longer than a second for its turn', 1001],
  ['a callback signed before the wall clock was set back', -1000],
])('%s is read and signed again', async (_, milliseconds) => {
  await startAhead(9);
  clock.jump(milliseconds);
  await answerUntil(9, 200);
  const now = String(Math.floor(clock.now().getTime() / 1000));
  expect(sent.slice(5).map(({ headers }) => headers?.['webhook-timestamp'])).toEqual(Array(4).fill(now));
  expect(read.slice(9).toSorted(byNumber)).toEqual(names(6, 9));
});

test('a callback that ends while it waits is not sent at its turn', async () => {
  await startAhead(9);
  await store.outbox.delivered(['cb-7'], clock.now().getTime());
  clock.jump(1001);
  await answerUntil(8, 200);
  expect(idsSent()).toEqual([...names(1, 6), ...names(8, 9)]);
});

test('nothing that was made before its turn is sent to a receiver that is gone', async () => {
  await startAhead(30);
  await answerUntil(5, 410);
  expect(idsSent()).toEqual(names(1, 5));
  expect(outbox.queued('ann')).toBe(0);
});

test('a long body is not kept in memory until its turn', async () => {
  await startAhead(9, { body: JSON.stringify('x'.repeat(70_000)) });
  await answerUntil(9, 200);
  expect(read.slice(9).toSorted(byNumber)).toEqual(names(6, 9));
});

test('a body that cannot be read before its turn is read at its turn', async () => {
  const { dueBody } = store.outbox;
  let isBroken = true;
  store.outbox.dueBody = async (id) => {
    const body = await dueBody(id);
    if (isBroken && Number(id.slice(3)) > 5) throw new Error('the disk does not answer');
    return body;
  };
  await startAhead(9);
  isBroken = false;
  await answerUntil(9, 200);
  expect(idsSent()).toEqual(names(1, 9));
});

test('at most as many are prepared before their turn as may be tried at once', async () => {
  await start(60, { hosts: 10, settings: { total: 4, perHost: 1 } });
  let most = 0;
  await eventually(() => {
    waiting.shift()?.(200);
    most = Math.max(most, new Set(read).size - sent.length);
    return sent.length;
  }).toBe(60);
  expect(most).toBeGreaterThan(0);
  // Four before their turn, and four that are tried.
  expect(most).toBeLessThanOrEqual(8);
  expect(read).toHaveLength(60);
});

test.each([200, 410])(
  'those that were made before their turn make room for others when all is over with %i',
  async (status) => {
    await startAhead(12, { settings: { total: 4 } });
    await answerUntil(status === 410 ? 5 : 12, status);
    read.length = 0;
    for (let number = 101; number <= 112; number += 1) {
      const row = callback(number, 'other.example');
      await store.outbox.add(row);
      outbox.admit({ ...row, attempts: 0, nextAt: 0 });
    }
    await answerFirst();
    await eventually(() => read.length).toBe(9);
  },
);
