import { describe, expect, test } from 'vitest';
import type { NonceRow } from './nonces.ts';
import type { RequestRow, Store } from './store.ts';

/** The contract of every store for nonces. `open` returns a fresh, empty one. */
export function describeNonces(name: string, open: () => Promise<Store>): void {
  describe(`${name}: nonces`, () => {
    const nonce: NonceRow = { agentId: 'ada', nonce: '0'.repeat(32), digest: 'one', usedAt: 5 };

    test('one is fresh once, the same for the same bytes, reused for others, and apart for each agent', async () => {
      await using store = await open();
      expect(await store.nonces.use(nonce)).toBe('fresh');
      expect(await store.nonces.use({ ...nonce, usedAt: 6 })).toBe('same');
      expect(await store.nonces.use({ ...nonce, digest: 'two' })).toBe('reused');
      expect(await store.nonces.use({ ...nonce, agentId: 'bob', digest: 'two' })).toBe('fresh');
    });

    test('old ones can be forgotten, and the latest use of those that were stays known', async () => {
      await using store = await open();
      expect(await store.nonces.forgotten()).toBe(0);
      await store.nonces.use(nonce);
      await store.nonces.use({ ...nonce, nonce: '1'.repeat(32), usedAt: 9 });
      expect(await store.nonces.count()).toBe(2);
      expect(await store.nonces.purge(5)).toBe(0);
      expect(await store.nonces.forgotten()).toBe(0);
      expect(await store.nonces.purge(9)).toBe(1);
      expect([await store.nonces.count(), await store.nonces.forgotten()]).toEqual([1, 5]);
      expect(await store.nonces.purge(30)).toBe(1);
      expect([await store.nonces.count(), await store.nonces.forgotten()]).toEqual([0, 9]);
      expect(await store.nonces.purge(40)).toBe(0);
      expect(await store.nonces.use({ ...nonce, digest: 'two' })).toBe('fresh');
      expect(await store.nonces.purge(40)).toBe(1);
      expect(await store.nonces.forgotten()).toBe(9);
    });

    test('a request and its nonce are recorded together or not at all', async () => {
      await using store = await open();
      expect(await store.requests.accept(request('first'), { nonce })).toMatchObject({ repeat: false });
      expect(await store.nonces.use(nonce)).toBe('same');
      expect(await store.requests.accept(request('second'), { nonce: { ...nonce, digest: 'two' } })).toEqual({
        reused: true,
      });
      expect(await store.requests.find({ owner: 'ada', requestId: 'second' })).toBeUndefined();
      expect(await store.requests.accept(request('first'), { nonce })).toMatchObject({ repeat: true });
    });

    test('a thousand replays at once are one request', async () => {
      await using store = await open();
      const replays = Array.from({ length: 1000 }, () => store.requests.accept(request('first'), { nonce }));
      const fresh = (await Promise.all(replays)).filter((accepted) => 'repeat' in accepted && !accepted.repeat);
      expect(fresh).toHaveLength(1);
    });
  });
}

function request(requestId: string): RequestRow {
  return {
    owner: 'ada',
    requestId,
    agentId: 'echo',
    sessionId: null,
    idempotencyKey: null,
    envelope: '{}',
    state: 'finished',
    acceptedAt: 1,
    expiresAt: null,
    priority: 1,
  };
}
