import { describe, expect, test } from 'vitest';
import type { NewDelivery, RequestRow, Store } from './store.ts';

/** The contract of every store for records of senders without a key. `open` returns a fresh, empty one. */
export function describeAnonymous(name: string, open: () => Promise<Store>): void {
  describe(`${name}: records of senders without a key`, () => {
    test('the newest that fit are kept, and older ones go first', async () => {
      await using store = await open();
      for (let at = 1; at <= 10; at += 1) await accept(store, { requestId: `r${at}`, acceptedAt: at });
      const all = await store.anonymous.sweep({ keepBytes: ALL, before: 0 });
      expect(all).toBeGreaterThan(10 * TEXT.length);
      expect(await left(store)).toEqual(10);
      const half = await store.anonymous.sweep({ keepBytes: all / 2, before: 0 });
      expect(half).toBeLessThanOrEqual(all / 2);
      expect(half).toBe((all / 10) * (await left(store)));
      for (let at = 10; at > 10 - (await left(store)); at -= 1) {
        expect(await store.requests.find({ owner: EVE, requestId: `r${at}` })).toBeDefined();
      }
      expect(await store.anonymous.sweep({ keepBytes: ALL, before: 0 })).toBe(half);
    });

    test('more than one window of them is gone through', async () => {
      await using store = await open();
      for (let at = 0; at < 450; at += 1) await accept(store, { requestId: `r${at}`, acceptedAt: at >> 6 });
      const all = await store.anonymous.sweep({ keepBytes: ALL, before: 0 });
      expect(await store.anonymous.sweep({ keepBytes: (all * 430) / 450, before: 0 })).toBe((all * 430) / 450);
      expect(await store.requests.find({ owner: EVE, requestId: 'r0' })).toBeUndefined();
      expect(await store.requests.find({ owner: EVE, requestId: 'r449' })).toBeDefined();
      expect(await store.anonymous.sweep({ keepBytes: 0, before: 0 })).toBe(0);
    });

    test('what is older than wanted is removed, whatever room there is', async () => {
      await using store = await open();
      for (let at = 1; at <= 3; at += 1) await accept(store, { requestId: `r${at}`, acceptedAt: at });
      await store.anonymous.sweep({ keepBytes: ALL, before: 3 });
      const found = await Promise.all(
        ['r1', 'r2', 'r3'].map((requestId) => store.requests.find({ owner: EVE, requestId })),
      );
      expect(found.map((row) => row?.requestId)).toEqual([undefined, undefined, 'r3']);
    });

    test('callers with a key lose nothing, and count for nothing', async () => {
      await using store = await open();
      for (const owner of ['anonymous', 'anonymous!', 'ann']) await accept(store, { owner });
      await store.outbox.add({ ...DELIVERY, id: 'cb-ann', owner: 'ann' });
      await store.outbox.gone('cb-ann', { at: 5, reason: 'HTTP status 410' });
      expect(await store.anonymous.sweep({ keepBytes: 0, before: ALL })).toBe(0);
      for (const owner of ['anonymous', 'anonymous!', 'ann']) {
        expect(await store.requests.find({ owner, requestId: 'r' })).toBeDefined();
      }
      expect(await store.outbox.find('cb-ann')).toBeDefined();
      expect(await store.outbox.isDisabled('ann', DELIVERY.url)).toBe(true);
    });

    test('open records stay and count: an open request, one with a pending callback, a callback that is due', async () => {
      await using store = await open();
      await store.requests.accept({ ...REQUEST, requestId: 'open', state: 'started' });
      await accept(store, { requestId: 'owing' }, { letter: { thread: null } });
      await store.outbox.add({ ...DELIVERY, id: 'cb-due' });
      const used = await store.anonymous.sweep({ keepBytes: 0, before: ALL });
      expect(used).toBeGreaterThan(DELIVERY.body.length);
      expect(await store.requests.find({ owner: EVE, requestId: 'open' })).toBeDefined();
      expect(await store.requests.find({ owner: EVE, requestId: 'owing' })).toBeDefined();
      expect(await store.outbox.find('cb-due')).toBeDefined();
    });

    test('callbacks that have ended and URLs that are gone are removed too, and never take the room of answers', async () => {
      await using store = await open();
      await accept(store, { requestId: 'answer' });
      await store.outbox.add({ ...DELIVERY, id: 'cb-1' });
      await store.outbox.gone('cb-1', { at: 5, reason: 'HTTP status 410' });
      expect(await store.anonymous.sweep({ keepBytes: 2_000, before: 0 })).toBeGreaterThan(0);
      expect(await store.outbox.find('cb-1')).toBeUndefined();
      expect(await store.outbox.isDisabled(EVE, DELIVERY.url)).toBe(false);
      expect(await store.requests.find({ owner: EVE, requestId: 'answer' })).toBeDefined();
    });
  });
}

const EVE = 'anonymous 192.0.2.7 Eve';
const ALL = Number.MAX_SAFE_INTEGER;
const TEXT = '{"is_final":true}'.padEnd(500);
const REQUEST: RequestRow = {
  owner: EVE,
  requestId: 'r',
  agentId: 'echo',
  sessionId: null,
  idempotencyKey: null,
  envelope: '{}',
  state: 'finished',
  acceptedAt: 1,
  expiresAt: null,
  priority: 1,
};
const DELIVERY: NewDelivery = {
  id: 'cb',
  owner: EVE,
  requestId: 'r',
  messageId: 'm',
  url: 'https://away.example/in',
  body: 'x'.repeat(5_000),
  priority: 1,
  expiresAt: null,
  createdAt: 1,
};

function accept(store: Store, fields: Partial<RequestRow>, beside = {}) {
  return store.requests.acceptAnswered({ ...REQUEST, ...fields }, [{ sequence: 0, isFinal: true, text: TEXT }], beside);
}

async function left(store: Store): Promise<number> {
  const found = await Promise.all(
    Array.from({ length: 10 }, (_, index) => store.requests.find({ owner: EVE, requestId: `r${index + 1}` })),
  );
  return found.filter((row) => row !== undefined).length;
}
