import { type AddressInfo, createServer } from 'node:net';
import { failure } from '@dragoman/protocols';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { GateBench } from '../gate/gate.contract.ts';
import type { Gate, InboundAnswer, OutboundRequest } from '../gate/gate.ts';
import { openGate } from '../gate/network-gate.ts';
import { Refused } from '../refusals/refused.ts';
import { Signatures } from '../signing/signatures.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import type { NewDelivery } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { Outbox, type OutboxSettings } from './outbox.ts';
import { OutboxOperator } from './outbox-operator.ts';
import { SigningKeys } from './signing-keys.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

let clock: TestClock;
let store: SqliteStore;
let outbox: Outbox;
let sent: OutboundRequest[];
/** The receiver's behaviour for each request in turn; the last one applies to all that follow. */
let answers: (number | [number, string] | Error)[];
/** The body of its answers. */
let answerBody: () => InboundAnswer['body'];

const gate: Gate = {
  check: async () => undefined,
  request: async (request) => {
    sent.push(request);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    const [status, retryAfter] = Array.isArray(answer) ? answer : [answer ?? 200];
    return { status, headers: { ...(retryAfter !== undefined && { 'retry-after': retryAfter }) }, body: answerBody() };
  },
};
let log: SilentLog;

beforeEach(() => {
  log = new SilentLog();
  clock = new TestClock();
  store = memoryStore();
  sent = [];
  answers = [200];
  answerBody = nothing;
  outbox = opened();
});
afterEach(async () => {
  clock.pass(60_000);
  await outbox.stop({ drainMs: 0 });
});

const operator = () => new OutboxOperator({ outbox, store: store.outbox, clock });

function opened(settings: Partial<OutboxSettings> = {}, through: Gate = gate): Outbox {
  const keys = new SigningKeys({ store: store.outbox, signatures });
  // Always the shortest pause, so that a test knows it.
  const ids = Object.assign(new TestIds(), { hex: () => '0'.repeat(32) });
  return new Outbox({
    store: store.outbox,
    gate: through,
    keys,
    clock,
    ids,
    log,
    isRegistered: (owner) => owner === 'ann',
    settings,
  });
}

const delivery = (fields: Partial<NewDelivery> = {}): NewDelivery => ({
  id: 'cb-1',
  owner: 'ann',
  requestId: 'msg_1',
  messageId: 'msg_2',
  url: 'https://one.example/in',
  body: '{}',
  priority: 1,
  expiresAt: null,
  createdAt: clock.now().getTime(),
  ...fields,
});

async function add(fields: Partial<NewDelivery> = {}): Promise<void> {
  const row = delivery(fields);
  await store.outbox.add(row);
  outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
  await quiet();
}

/** Waits for everything that does not depend on the clock. */
async function quiet(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (outbox.trying > 0);
}

async function pass(milliseconds: number): Promise<void> {
  clock.pass(milliseconds);
  await quiet();
}

const stateOf = async (id = 'cb-1') => (await store.outbox.find(id))?.state;

describe('a callback that fails', () => {
  test('is tried after 1, 4 and 16 seconds, and not once more', async () => {
    answers = [500];
    await add();
    const counts = [sent.length];
    for (const milliseconds of [999, 1, 3999, 1, 15_999, 1, 1_000_000]) {
      await pass(milliseconds);
      counts.push(sent.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    expect(await stateOf()).toBe('dead');
    const givenUp = log.lines.filter(({ level }) => level === 'warn');
    expect(givenUp).toMatchObject([
      { message: 'a callback was given up: a dead letter', fields: { delivery: 'cb-1', attempts: 4 } },
    ]);
  });

  test.each([408, 425, 429, 500, 503, 301])('with %i is tried again', async (status) => {
    answers = [status, 204];
    await add();
    await pass(1000);
    expect([sent.length, await stateOf()]).toEqual([2, 'delivered']);
  });

  test.each([400, 401, 404, 413, 422])('with %i is not', async (status) => {
    answers = [status];
    await add();
    await pass(100_000);
    expect([sent.length, await stateOf()]).toEqual([1, 'dead']);
  });

  test('because no server listens is tried again; because the gate forbids it, is not', async () => {
    answers = [new Refused(failure('unreachable')), 200];
    await add();
    await pass(1000);
    expect(await stateOf()).toBe('delivered');
    answers = [new Refused(failure('forbidden', {}, 'Outbound request blocked.'))];
    await add({ id: 'cb-2' });
    await pass(100_000);
    expect(await store.outbox.find('cb-2')).toMatchObject({
      state: 'dead',
      attempts: 1,
      failures: [{ reason: 'Outbound request blocked.' }],
    });
  });

  test('because the store cannot be read has not been tried, and is when it can', async () => {
    const { dueBody } = store.outbox;
    store.outbox.dueBody = async () => {
      store.outbox.dueBody = dueBody;
      throw new StoreError('store_unavailable', 'The disk is full.');
    };
    await add();
    expect([sent.length, await stateOf(), outbox.queued('ann')]).toEqual([0, 'due', 1]);
    await pass(1000);
    expect(sent).toHaveLength(1);
    expect(await store.outbox.find('cb-1')).toMatchObject({ state: 'delivered', attempts: 1, failures: [] });
  });

  test('because the store cannot be read is left to other processes once it was released to them', async () => {
    let reads = 0;
    store.outbox.dueBody = async () => {
      reads += 1;
      outbox.letGo();
      throw new StoreError('store_unavailable', 'The connection is lost.');
    };
    await add();
    await pass(1000);
    expect([reads, sent.length, await stateOf(), outbox.queued('ann')]).toEqual([1, 0, 'due', 0]);
  });

  test('because its name was never looked up has not been tried, but does not wait forever', async () => {
    outbox = opened({ longestMs: 5000, retries: 0 });
    answers = [new Refused(failure('unreachable', { looked_up: false }))];
    await add();
    for (let second = 1; second < 5; second += 1) await pass(1000);
    expect(await store.outbox.find('cb-1')).toMatchObject({ state: 'due', attempts: 0, failures: [] });
    await pass(1000);
    expect(await store.outbox.find('cb-1')).toMatchObject({ state: 'dead', attempts: 1, failures: [{}] });
  });

  test('because its name was never looked up has as long again once it has been tried', async () => {
    outbox = opened({ longestMs: 5000, retries: 1 });
    const never = new Refused(failure('unreachable', { looked_up: false }));
    answers = [never, never, never, 500, never];
    await add();
    for (let second = 1; second < 9; second += 1) await pass(1000);
    expect(await store.outbox.find('cb-1')).toMatchObject({ state: 'due', attempts: 1, failures: [{ status: 500 }] });
    await pass(1000);
    expect(await store.outbox.find('cb-1')).toMatchObject({ state: 'dead', attempts: 2 });
  });

  test('waits as long as Retry-After requires, up to the bound', async () => {
    outbox = opened({ longestMs: 60_000 });
    answers = [[503, '30'], [503, '86400'], 200];
    await add();
    await pass(29_999);
    expect(sent.length).toBe(1);
    await pass(1);
    expect(sent.length).toBe(2);
    await pass(60_000);
    expect([sent.length, await stateOf()]).toEqual([3, 'delivered']);
  });

  test('is given up when its next try would be when it expires, or later', async () => {
    answers = [500];
    await add({ expiresAt: clock.now().getTime() + 5000 });
    await pass(1000);
    expect([sent.length, await stateOf()]).toEqual([2, 'dead']);
  });
});

/** Starts as the next process does, which takes up what this one left. */
async function startNext(): Promise<void> {
  store = nextProcess(store);
  outbox = opened();
  await outbox.start();
}

describe('a callback that expires', () => {
  test('before its turn is never sent', async () => {
    const expiresAt = clock.now().getTime() + 500;
    await store.outbox.add(delivery({ expiresAt }));
    clock.jump(500);
    await startNext();
    await quiet();
    expect([sent.length, await stateOf()]).toEqual([0, 'dead']);
    expect(await store.outbox.find('cb-1')).toMatchObject({
      attempts: 0,
      failures: [{ reason: 'it expired before it was delivered' }],
    });
    expect(outbox.queued('ann')).toBe(0);
  });

  test('while it waits for another turn is given up then, not when its turn comes', async () => {
    answers = [new Refused(failure('unreachable', { looked_up: false }))];
    await add({ expiresAt: clock.now().getTime() + 500 });
    await pass(499);
    expect(await stateOf()).toBe('due');
    await pass(1);
    expect([sent.length, await stateOf()]).toEqual([1, 'dead']);
  });

  test('has only the remaining time for a try', async () => {
    await add({ expiresAt: clock.now().getTime() + 700 });
    expect(sent[0]?.timeoutMs).toBe(700);
    await add({ id: 'cb-2' });
    expect(sent[1]?.timeoutMs).toBe(10_000);
  });
});

describe('a sent callback', () => {
  test('has the id of its message, and both signatures only where there is a secret to share', async () => {
    await add();
    await add({ id: 'cb-2', owner: 'anonymous 10.0.0.1 Ann' });
    const [known, anonymous] = sent.map(({ headers }) => headers ?? {});
    expect([known?.['webhook-id'], anonymous?.['webhook-id']]).toEqual(['msg_2', 'msg_2']);
    expect(known?.['webhook-signature']).toMatch(/^v1,\S+ v1a,\S+$/);
    expect(anonymous?.['webhook-signature']).toMatch(/^v1a,\S+$/);
    expect(sent.map(({ caller }) => caller)).toEqual(['ann', 'anonymous 10.0.0.1 Ann']);
  });
});

describe('a receiver that is gone', () => {
  test('gets no waiting callbacks until an operator retries one of them', async () => {
    answers = [500, 410];
    await add({ id: 'paused' });
    await add({ id: 'refused' });
    expect([await stateOf('paused'), await stateOf('refused'), outbox.queued('ann')]).toEqual(['dead', 'dead', 0]);
    await pass(60_000);
    expect(sent).toHaveLength(2);
    answers = [200];
    await operator().retry('paused');
    await quiet();
    expect([await stateOf('paused'), await stateOf('refused'), sent.length]).toEqual(['delivered', 'dead', 3]);
  });

  test('can be enabled again by a callback that has expired, which is not sent', async () => {
    answers = [410];
    await add({ expiresAt: clock.now().getTime() + 60_000 });
    await pass(60_000);
    expect(await operator().retry('cb-1')).toMatchObject({ row: { state: 'dead' }, isEnabled: true });
    await quiet();
    expect([sent.length, await store.outbox.isDisabled('ann', 'https://one.example/in')]).toEqual([1, false]);
    await expect(operator().retry('cb-1')).rejects.toMatchObject({ failure: { code: 'expired' } });
  });

  test.each([
    [7, 30],
    [90, 90],
  ])('where callbacks are kept %i days gets callbacks again after %i', async (keepDays, goneDays) => {
    answers = [410];
    outbox = opened({ keepMs: keepDays * ONE_DAY });
    await add();
    await outbox.start();
    const isDisabled = () => store.outbox.isDisabled('ann', 'https://one.example/in');
    await pass(goneDays * ONE_DAY - 1);
    expect(await isDisabled()).toBe(true);
    await pass(ONE_DAY);
    expect(await isDisabled()).toBe(false);
  });

  test('is not tried twice because of tries that were in progress when it answered 410', async () => {
    const waiting: ((status: number) => void)[] = [];
    const through: Gate = {
      ...gate,
      request: async (request) => {
        sent.push(request);
        const status = await new Promise<number>((resolve) => waiting.push(resolve));
        return { status, headers: {}, body: nothing() };
      },
    };
    outbox = opened({}, through);
    const send = async (id: string) => {
      const row = delivery({ id });
      await store.outbox.add(row);
      outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
    };
    // One that has answered is sent several at a time.
    await send('first');
    await expect.poll(() => waiting.length).toBe(1);
    waiting.pop()?.(200);
    await quiet();
    for (const id of ['under-way', 'refused']) await send(id);
    await expect.poll(() => waiting.length).toBe(2);
    waiting[1]?.(410);
    await expect.poll(() => stateOf('under-way')).toBe('dead');
    waiting[0]?.(500);
    await quiet();
    await operator().retry('under-way');
    await expect.poll(() => waiting.length).toBe(3);
    waiting[2]?.(500);
    await quiet();
    clock.pass(1000);
    await expect.poll(() => waiting.length).toBe(4);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(waiting).toHaveLength(4);
    waiting[3]?.(200);
    await quiet();
    expect(await stateOf('under-way')).toBe('delivered');
  });

  test('nor because of failures that were being recorded when it answered 410', async () => {
    const waiting: ((status: number) => void)[] = [];
    const through: Gate = {
      ...gate,
      request: async () => {
        const status = await new Promise<number>((resolve) => waiting.push(resolve));
        return { status, headers: {}, body: nothing() };
      },
    };
    outbox = opened({}, through);
    const send = async (id: string) => {
      const row = delivery({ id });
      await store.outbox.add(row);
      outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
    };
    await send('first');
    await expect.poll(() => waiting.length).toBe(1);
    waiting.pop()?.(200);
    await quiet();
    for (const id of ['failed', 'refused']) await send(id);
    await expect.poll(() => waiting.length).toBe(2);
    const { failed } = store.outbox;
    let write: (() => void) | undefined;
    store.outbox.failed = async (...values) => {
      await new Promise<void>((resolve) => {
        write = resolve;
      });
      store.outbox.failed = failed;
      await failed(...values);
    };
    waiting[0]?.(500);
    await expect.poll(() => write).toBeDefined();
    waiting[1]?.(410);
    await expect.poll(() => stateOf('failed')).toBe('dead');
    write?.();
    await quiet();
    await operator().retry('failed');
    await expect.poll(() => waiting.length).toBe(3);
    waiting[2]?.(500);
    await quiet();
    clock.pass(1000);
    await expect.poll(() => waiting.length).toBe(4);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(waiting).toHaveLength(4);
    waiting[3]?.(200);
    await quiet();
    expect(await stateOf('failed')).toBe('delivered');
  });

  test('nor because of callbacks that were queued when it answered 410', async () => {
    const waiting = new Map<string, (status: number) => void>();
    const through: Gate = {
      ...gate,
      request: async (request) => {
        sent.push(request);
        const id = String(request.headers?.['webhook-id']);
        const status = await new Promise<number>((resolve) => waiting.set(id, resolve));
        return { status, headers: {}, body: nothing() };
      },
    };
    outbox = opened({ perHost: 2 }, through);
    const send = async (id: string, fields: Partial<NewDelivery> = {}) => {
      const row = delivery({ id, messageId: id, ...fields });
      await store.outbox.add(row);
      outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
    };
    const answer = async (id: string, status: number) => {
      await expect.poll(() => waiting.has(id)).toBe(true);
      waiting.get(id)?.(status);
    };
    const elsewhere = { url: 'https://one.example/other' };
    await send('first', elsewhere);
    await answer('first', 200);
    await quiet();
    await send('held', elsewhere);
    await send('refused');
    await send('in-line');
    // Takes the place of the one that is refused.
    await send('urgent', { ...elsewhere, priority: 0 });
    await answer('refused', 410);
    await expect.poll(() => waiting.has('urgent')).toBe(true);
    expect(await stateOf('in-line')).toBe('dead');
    await operator().retry('in-line');
    for (const id of ['held', 'urgent']) await answer(id, 200);
    await expect.poll(() => waiting.has('in-line')).toBe(true);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(sent.filter(({ headers }) => headers?.['webhook-id'] === 'in-line')).toHaveLength(1);
    await answer('in-line', 200);
    await quiet();
    expect(await stateOf('in-line')).toBe('delivered');
  });
});

test('a callback that is given up is not sent any more, until an operator retries it', async () => {
  answers = [500, 200];
  await add();
  expect(await operator().giveUp('cb-1')).toMatchObject({
    state: 'dead',
    failures: [{ status: 500 }, { reason: 'it was given up by an operator' }],
  });
  await pass(100_000);
  expect(sent).toHaveLength(1);
  expect(outbox.queued('ann')).toBe(0);
  await expect(operator().giveUp('cb-1')).rejects.toMatchObject({ failure: { code: 'conflict' } });
  await expect(operator().giveUp('cb-2')).rejects.toMatchObject({ failure: { code: 'not_found' } });
  await operator().retry('cb-1');
  await quiet();
  expect(await stateOf()).toBe('delivered');
});

test('all dead callbacks to a host are tried again, and those to others are not', async () => {
  answers = [400, 400, 400];
  await add();
  await add({ id: 'cb-2', messageId: 'cb-2', url: 'https://other.example/in' });
  await add({ id: 'cb-3', messageId: 'cb-3' });
  const { host } = new URL(delivery().url);
  answers = [200, 200];
  expect(await operator().retryHost(host)).toEqual({ retried: 2, isAll: true });
  await quiet();
  expect([await stateOf('cb-1'), await stateOf('cb-2'), await stateOf('cb-3')]).toEqual([
    'delivered',
    'dead',
    'delivered',
  ]);
});

describe('to try again now', () => {
  test('is for dead ones alone: one that waits keeps its pause, and one that was delivered is not sent again', async () => {
    answers = [500, 200];
    await add();
    await expect(operator().retry('cb-1')).rejects.toMatchObject({ failure: { code: 'conflict' } });
    await pass(999);
    expect([sent.length, await stateOf()]).toEqual([1, 'due']);
    await pass(1);
    await expect(operator().retry('cb-1')).rejects.toMatchObject({ failure: { code: 'conflict' } });
    await quiet();
    expect([sent.length, await stateOf()]).toEqual([2, 'delivered']);
    await expect(operator().retry('cb-2')).rejects.toMatchObject({ failure: { code: 'not_found' } });
  });
});

test('a host has four tries at a time over all its ports together', async () => {
  const waiting: (() => void)[] = [];
  const through: Gate = {
    ...gate,
    request: async (request) => {
      // The first is answered at once: a host that has not answered yet has one.
      if (sent.length > 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return gate.request(request);
    },
  };
  outbox = opened({}, through);
  await add({ id: 'first' });
  for (let port = 8000; port < 8010; port += 1) {
    const row = delivery({ id: `at-${port}`, url: `https://one.example:${port}/in` });
    await store.outbox.add(row);
    outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
  }
  // Nothing here takes longer than a turn or two.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(waiting).toHaveLength(4);
  while (outbox.trying > 0) {
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sent).toHaveLength(11);
});

test('an answer that does not end keeps its place at the receiver for a moment only', async () => {
  let isLetGo = false;
  answerBody = () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<never>(() => {}),
      return: async () => {
        isLetGo = true;
        return { done: true as const, value: undefined };
      },
    }),
  });
  const row = delivery();
  await store.outbox.add(row);
  outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
  await expect.poll(() => clock.waiting).toBe(1);
  await pass(250);
  expect([await stateOf(), isLetGo]).toEqual(['delivered', true]);
});

test.each([
  [200, 'delivered', false],
  [410, 'dead', true],
])('status %i counts, whatever the coding of the body', async (status, state, isGone) => {
  await using bench = new GateBench();
  const port = await bench.serve((_, response) => response.writeHead(status, { 'content-encoding': 'zstd' }).end('(/'));
  outbox = opened({}, bench.open());
  const url = `http://127.0.0.1:${port}/`;
  await add({ url });
  expect(await store.outbox.find('cb-1')).toMatchObject({ state, attempts: 1 });
  expect(await store.outbox.isDisabled('ann', url)).toBe(isGone);
});

test.each(['identity', 'gzip'])(
  'the connection of an answer that does not end is closed then, including one in %s',
  async (coding) => {
    let [isRequested, isClosed] = [false, false];
    await using bench = new GateBench();
    const port = await bench.serve((request, response) => {
      isRequested = true;
      request.socket.once('close', () => {
        isClosed = true;
      });
      response.writeHead(200, { 'content-encoding': coding }).flushHeaders();
    });
    // By our clock: nothing else ends it.
    outbox = opened({}, bench.open({ clock }));
    const row = delivery({ url: `http://127.0.0.1:${port}/` });
    await store.outbox.add(row);
    outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
    // The time for the try, and the patience with what comes after the head of its answer.
    await expect.poll(() => isRequested && clock.waiting === 2).toBe(true);
    await pass(250);
    expect(await stateOf()).toBe('delivered');
    await expect.poll(() => isClosed, { timeout: 5000 }).toBe(true);
  },
);

describe('while the disk is slow', () => {
  let write: () => void;

  /** Sends two to one receiver, which has one place, and blocks the recording of their results. */
  async function sendTwo(settings: Partial<OutboxSettings>): Promise<void> {
    const slow = new Promise<void>((resolve) => {
      write = resolve;
    });
    const { delivered, failed } = store.outbox;
    store.outbox.delivered = (...values) => slow.then(() => delivered(...values));
    store.outbox.failed = (...values) => slow.then(() => failed(...values));
    for (const id of ['cb-1', 'cb-2']) await store.outbox.add(delivery({ id }));
    const { claim } = nextProcess(store).outbox;
    store.outbox.claim = claim;
    outbox = opened({ perHost: 1, ...settings });
    await outbox.start();
    // Nothing here takes longer than a turn or two.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  test('a receiver gets the next one before the last is written down as delivered', async () => {
    await sendTwo({});
    expect([sent.length, await stateOf('cb-1')]).toEqual([2, 'due']);
    write();
    await quiet();
    expect([await stateOf('cb-1'), await stateOf('cb-2'), sent.length]).toEqual(['delivered', 'delivered', 2]);
  });

  test.each([
    ['they are at most as many as tries', { total: 1 }, 200],
    ['one that failed keeps its place', {}, 503],
  ])('%s', async (_, settings, status) => {
    answers = [status, 200];
    await sendTwo(settings);
    expect(sent.length).toBe(1);
    write();
    await quiet();
    expect(sent.length).toBe(2);
  });
});

describe('a start', () => {
  test('after the wall clock was set back far waits no longer than the longest pause', async () => {
    await store.outbox.add(delivery());
    clock.jump(-10 * ONE_DAY);
    await startNext();
    await pass(3_599_999);
    expect(sent).toHaveLength(0);
    await pass(1);
    expect([sent.length, await stateOf()]).toEqual([1, 'delivered']);
  });

  test('sends what was admitted before it once', async () => {
    const row = delivery();
    await store.outbox.add(row);
    store.outbox.claim = nextProcess(store).outbox.claim;
    outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
    await outbox.start();
    await quiet();
    expect([sent.length, outbox.queued('ann')]).toEqual([1, 0]);
  });

  test('takes up what is due, and leaves what is not', async () => {
    answers = [500];
    await add({ id: 'paused' });
    await store.outbox.add(delivery({ id: 'waiting' }));
    await store.outbox.add(delivery({ id: 'done' }));
    await store.outbox.delivered(['done'], 0);
    await outbox.stop({ drainMs: 0 });
    sent.length = 0;
    answers = [200];
    await startNext();
    await quiet();
    expect([await stateOf('waiting'), await stateOf('paused'), sent.length]).toEqual(['delivered', 'due', 1]);
    await pass(1000);
    expect([await stateOf('paused'), sent.length]).toEqual(['delivered', 2]);
  });
});

test('a stop lets tries in progress end within the drain time, and leaves the rest due', async () => {
  const waiting: ((status: number) => void)[] = [];
  const through: Gate = {
    ...gate,
    request: async ({ signal }) => {
      const status = await new Promise<number>((resolve, reject) => {
        waiting.push(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      return { status, headers: {}, body: nothing() };
    },
  };
  outbox = opened({}, through);
  for (const id of ['in-time', 'late']) {
    const row = delivery({ id, url: `https://${id}.example/in` });
    await store.outbox.add(row);
    outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
  }
  await expect.poll(() => waiting.length).toBe(2);
  const stopped = outbox.stop({ drainMs: 1000 });
  clock.pass(999);
  waiting[0]?.(200);
  await expect.poll(() => stateOf('in-time')).toBe('delivered');
  clock.pass(1);
  await stopped;
  expect(await store.outbox.find('late')).toMatchObject({ state: 'due', attempts: 0, failures: [] });
});

describe('a sender', () => {
  test('has as many waiting as are not over', async () => {
    answers = [500, 200];
    await add();
    expect([outbox.queued('ann'), outbox.queued('bob')]).toEqual([1, 0]);
    await pass(1000);
    expect(outbox.queued('ann')).toBe(0);
  });
});

test('a name that stands for a private address by the time of a try is not followed there', async () => {
  let connections = 0;
  const canary = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  const { port } = canary.address() as AddressInfo;
  const url = `https://rebinding.example:${port}/in`;
  let address = '93.184.216.34';
  let lookups = 0;
  const real = openGate({
    // It dawdles before it refuses, by another clock than the one we pass.
    clock: {
      now: () => clock.now(),
      elapsed: () => clock.elapsed(),
      after: (milliseconds, callback) => clock.after(milliseconds, callback),
      wait: async () => {},
    },
    log: new SilentLog(),
    resolve: async () => {
      lookups += 1;
      return [address];
    },
  });
  expect(await real.check(url, 'callbacks')).toBeUndefined();
  address = '127.0.0.1';
  // Names are remembered for a moment.
  clock.pass(3000);
  outbox = opened({}, real);
  await add({ url });
  for (let number = 0; number < 4; number += 1) await pass(16_000);
  const { state, failures } = (await store.outbox.find('cb-1')) ?? {};
  expect([state, failures?.length, lookups, connections]).toEqual(['dead', 4, 5, 0]);
  await real[Symbol.asyncDispose]();
  canary.close();
});

const ONE_DAY = 24 * 3600 * 1000;

async function* nothing(): InboundAnswer['body'] & AsyncGenerator<Uint8Array> {}
