import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import type { Gate } from '../gate/gate.ts';
import { Signatures } from '../signing/signatures.ts';
import type { SqliteStore } from '../store/sqlite-store.ts';
import { StoreError } from '../store/store-error.ts';
import { Outbox } from './outbox.ts';
import { OutboxOperator } from './outbox-operator.ts';
import { SigningKeys } from './signing-keys.ts';

const signatures = new Signatures();
afterAll(() => signatures[Symbol.asyncDispose]());

let clock: TestClock;
let store: SqliteStore;
let outbox: Outbox;
let log: SilentLog;
/** Each request that was sent, by its callback's id, and how to answer it. */
let sent: { readonly id: string; readonly answer: (status: number) => void }[];
/** Those that were ended from our side. */
let ended: string[];
/** Whether requests have their answers already, so that nothing ends them any more. */
let isAnswered: boolean;

const gate: Gate = {
  check: async () => undefined,
  request: async ({ headers, signal }) => {
    const id = String(headers?.['webhook-id']).replace('answer_', '');
    const status = await new Promise<number>((answer, reject) => {
      const request = { id, answer };
      sent.push(request);
      const end = () => {
        // One that has its answer is not in there any more.
        if (!sent.includes(request) || isAnswered) return;
        sent.splice(sent.indexOf(request), 1);
        ended.push(id);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', end, { once: true });
    });
    return { status, headers: {}, body: (async function* () {})() };
  },
};

beforeEach(() => {
  [clock, store, log] = [new TestClock(), memoryStore(), new SilentLog()];
  [sent, ended, isAnswered] = [[], [], false];
  outbox = openOutbox();
});
afterEach(async () => {
  isAnswered = false;
  const stopped = outbox.stop({ drainMs: 0 });
  clock.pass(1);
  await stopped;
});

const operator = () => new OutboxOperator({ outbox, store: store.outbox, clock });

function openOutbox(): Outbox {
  const keys = new SigningKeys({ store: store.outbox, signatures });
  // Always the shortest pause.
  const ids = Object.assign(new TestIds(), { hex: () => '0'.repeat(32) });
  return new Outbox({ store: store.outbox, gate, keys, clock, ids, log, isRegistered: () => false });
}

async function add(id: string, path = 'in'): Promise<void> {
  const row = {
    ...{ id, owner: 'ann', requestId: `msg_${id}`, messageId: `answer_${id}`, url: `https://one.example/${path}` },
    ...{ body: '{}', priority: 1, expiresAt: null, createdAt: clock.now().getTime() },
  };
  await store.outbox.add(row);
  outbox.admit({ ...row, attempts: 0, nextAt: row.createdAt });
}

/** Nothing here takes longer than a few turns. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A host that has answered has several places. */
async function answeredOnce(): Promise<void> {
  await add('first', 'elsewhere');
  await turns();
  await answer('first', 200);
}

async function answer(id: string, status: number): Promise<void> {
  const at = sent.findIndex((one) => one.id === id);
  sent.splice(at, 1)[0]?.answer(status);
  await turns();
}

const idsSent = () => sent.map(({ id }) => id);
const stateOf = async (id: string) => (await store.outbox.find(id))?.state;

describe('a callback whose body is damaged on the disk', () => {
  beforeEach(() => {
    const { dueBody, find } = store.outbox;
    const damaged = (id: string) => new StoreError('store_damaged', `Delivery ${id} is damaged in the database.`);
    store.outbox.dueBody = async (id) => {
      if (id === 'damaged') throw damaged(id);
      return dueBody(id);
    };
    store.outbox.find = async (id) => {
      if (id === 'damaged') throw damaged(id);
      return find(id);
    };
  });

  test('is a dead letter with its reason, logged once, and keeps no other from being sent', async () => {
    await answeredOnce();
    for (const id of ['damaged', 'whole']) await add(id);
    await turns();
    expect(idsSent()).toEqual(['whole']);
    await answer('whole', 200);
    const [dead] = (await store.outbox.list({ state: 'dead', limit: 10 })).rows;
    expect(dead).toMatchObject({
      id: 'damaged',
      attempts: 0,
      failures: [{ reason: 'it is damaged in the database: its content has changed since it was stored' }],
    });
    for (let second = 0; second < 5; second += 1) {
      clock.pass(1000);
      await turns();
    }
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect([outbox.queued('ann'), outbox.trying]).toEqual([0, 0]);
  });

  test('is not tried again, and a retry is refused with the reason', async () => {
    await add('damaged');
    await turns();
    await expect(operator().retry('damaged')).rejects.toMatchObject({
      failure: { code: 'conflict', message: 'The callback is damaged in the database and cannot be sent.' },
    });
  });
});

test('a callback whose address is damaged on the disk goes nowhere after a restart, and is a dead letter with its reason', async () => {
  await outbox.stop({ drainMs: 0 });
  for (const id of ['damaged', 'whole']) await add(id);
  store = nextProcess(store);
  const { claim } = store.outbox;
  store.outbox.claim = async (limit) =>
    (await claim(limit)).map((row) => (row.id === 'damaged' ? { ...row, isDamaged: true } : row));
  outbox = openOutbox();
  await outbox.start();
  await turns();
  expect(idsSent()).toEqual(['whole']);
  expect(await store.outbox.find('damaged')).toMatchObject({
    state: 'dead',
    failures: [{ reason: 'it is damaged in the database: its content has changed since it was stored' }],
  });
});

describe('a receiver that has answered 410 Gone', () => {
  test('gets nothing more of that sender, even while the disk is too full to record it', async () => {
    await answeredOnce();
    const { gone } = store.outbox;
    store.outbox.gone = () => Promise.reject(new StoreError('store_unavailable', 'The disk is full.'));
    isAnswered = true;
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await add(id);
    await add('other', 'other');
    await turns();
    expect(idsSent()).toEqual(['a', 'b', 'c', 'd']);
    await answer('a', 410);
    for (const id of ['b', 'c', 'd']) await answer(id, 200);
    // The place of the one that is being written down is still taken.
    expect(idsSent()).toEqual(['other']);
    store.outbox.gone = gone;
    clock.pass(10_000);
    await turns();
    expect([await stateOf('a'), await stateOf('e'), await stateOf('f')]).toEqual(['dead', 'dead', 'dead']);
    await answer('other', 200);
    expect([outbox.queued('ann'), outbox.trying]).toEqual([0, 0]);
    // A retry enables the receiver again.
    await operator().retry('e');
    await turns();
    expect(idsSent()).toEqual(['e']);
    await answer('e', 200);
    expect(await stateOf('e')).toBe('delivered');
  });

  test('ends what is on its way there, and nothing else', async () => {
    await answeredOnce();
    for (const id of ['a', 'b', 'c']) await add(id);
    await add('other', 'other');
    await turns();
    await answer('a', 410);
    expect(ended).toEqual(['b', 'c']);
    expect([await stateOf('b'), await stateOf('c'), outbox.trying]).toEqual(['dead', 'dead', 1]);
    await answer('other', 200);
    expect(await stateOf('other')).toBe('delivered');
    // A later try is not ended with those.
    await operator().retry('b');
    await turns();
    await answer('b', 200);
    expect([await stateOf('b'), outbox.trying, outbox.queued('ann')]).toEqual(['delivered', 0, 0]);
  });

  test('and answers 410 to a second try in progress is recorded once, even if the callback is deleted by then', async () => {
    await answeredOnce();
    isAnswered = true;
    for (const id of ['a', 'b']) await add(id);
    await turns();
    const { gone } = store.outbox;
    let written = 0;
    store.outbox.gone = (...values) => {
      written += 1;
      return gone(...values);
    };
    await answer('a', 410);
    await store.outbox.purge({ ended: Number.POSITIVE_INFINITY, gone: 0 });
    await answer('b', 410);
    expect([written, outbox.trying, outbox.queued('ann')]).toEqual([1, 0, 0]);
  });

  test('and is enabled again while an old try is in progress gets the usual number of tries', async () => {
    await answeredOnce();
    isAnswered = true;
    for (const id of ['slow', 'refused']) await add(id);
    await turns();
    const [slow] = sent;
    await answer('refused', 410);
    await operator().retry('slow');
    await turns();
    // The try from before the 410, and the requested retry.
    expect(idsSent()).toEqual(['slow', 'slow']);
    sent.shift();
    slow?.answer(500);
    await turns();
    expect([outbox.queued('ann'), (await store.outbox.find('slow'))?.attempts]).toEqual([1, 0]);
    await answer('slow', 500);
    expect(await store.outbox.find('slow')).toMatchObject({ state: 'due', attempts: 1 });
    clock.pass(1000);
    await turns();
    expect(idsSent()).toEqual(['slow']);
    await answer('slow', 200);
    expect([await stateOf('slow'), outbox.queued('ann')]).toEqual(['delivered', 0]);
  });
});

test('a requested retry stays queued when an old try arrives', async () => {
  await answeredOnce();
  isAnswered = true;
  for (const id of ['slow', 'refused']) await add(id);
  await turns();
  await answer('refused', 410);
  await operator().retry('slow');
  await turns();
  expect(idsSent()).toEqual(['slow', 'slow']);
  await answer('slow', 200);
  expect([await stateOf('slow'), outbox.queued('ann')]).toEqual(['delivered', 1]);
  await answer('slow', 200);
  expect(outbox.queued('ann')).toBe(0);
});

test('a callback that waits for its next try is dropped once its receiver is gone', async () => {
  await answeredOnce();
  for (const id of ['paused', 'refused']) await add(id);
  await turns();
  await answer('paused', 500);
  expect(clock.waiting).toBe(1);
  await answer('refused', 410);
  expect([clock.waiting, await stateOf('paused')]).toEqual([0, 'dead']);
});

describe('an outbox that stops', () => {
  const stop = async () => {
    const stopped = outbox.stop({ drainMs: 0 });
    clock.pass(1);
    await stopped;
  };

  test('leaves interrupted callbacks to the next start, and logs no warning', async () => {
    await add('a');
    await turns();
    expect(idsSent()).toEqual(['a']);
    await stop();
    expect([ended, await stateOf('a')]).toEqual([['a'], 'due']);
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  test('waits for nothing whose next try is later', async () => {
    await add('a');
    await turns();
    await answer('a', 500);
    expect(clock.waiting).toBe(1);
    await stop();
    expect(clock.waiting).toBe(0);
  });

  test('takes nothing up any more, nor waits for it', async () => {
    await stop();
    const nextAt = clock.now().getTime() + 1000;
    outbox.admit({
      ...{ id: 'late', owner: 'ann', requestId: 'r', messageId: 'm', url: 'https://one.example/' },
      ...{ priority: 1, expiresAt: null, attempts: 1, nextAt },
    });
    expect([outbox.queued('ann'), clock.waiting]).toEqual([0, 0]);
  });
});
