import { beforeEach, describe, expect, test } from 'vitest';
import { heldOf } from '../../test-support/held-runs.ts';
import { type OpenStore, sharedStore } from '../../test-support/shared-store.ts';
import { frame, requestRow } from './requests.contract.ts';
import type { NewDelivery, PushConfig, Store } from './store.ts';

/** The contract of every store for push notification configs. `open` returns a fresh, empty one. */
export function describePushConfigs(name: string, open: OpenStore): void {
  describe(`push notification configs in ${name}`, () => {
    let store: Store;
    let owner = '';
    const fresh = sharedStore(open, (given, mine) => {
      store = given;
      owner = mine;
    });
    const key = () => ({ owner, requestId: 'r1' });
    const config = (configId: string, fields: Partial<PushConfig> = {}): PushConfig => ({
      ...key(),
      configId,
      name: `${owner} ${configId}`,
      url: 'https://one.example/in',
      version: '1.0',
      secrets: 'sealed',
      createdAt: 1,
      position: '',
      isOver: false,
      ...fields,
    });
    const delivery = (id: string): NewDelivery => ({
      id: `${owner} ${id}`,
      ...key(),
      messageId: id,
      url: 'https://one.example/in',
      body: '{}',
      priority: 1,
      expiresAt: null,
      createdAt: 1,
    });
    beforeEach(async () => {
      await store.requests.accept(requestRow({ ...key() }));
    });

    test('one that was put is found by its id and its name, with the agent of its request', async () => {
      expect(await store.pushConfigs.put(config('a'), 10)).toBe(true);
      const row = { ...config('a'), agentId: 'echo' };
      expect(await store.pushConfigs.find(key(), 'a')).toEqual(row);
      expect(await store.pushConfigs.named(`${owner} a`)).toEqual(row);
      expect(await store.pushConfigs.list(key())).toEqual([row]);
      expect(await store.pushConfigs.find({ ...key(), owner: `not ${owner}` }, 'a')).toBeUndefined();
    });

    test('put again, it changes where and how it is sent, and keeps its position', async () => {
      await store.pushConfigs.put(config('a', { position: '3.1', isOver: true }), 10);
      const changed = config('a', {
        url: 'https://two.example/',
        secrets: null,
        version: '0.3',
        position: '',
        createdAt: 9,
      });
      await store.pushConfigs.put(changed, 10);
      expect(await store.pushConfigs.find(key(), 'a')).toMatchObject({
        ...changed,
        position: '3.1',
        isOver: true,
        createdAt: 1,
      });
    });

    test('a request is limited in its configs, and a deleted request has none', async () => {
      expect(await store.pushConfigs.put(config('a'), 1)).toBe(true);
      expect(await store.pushConfigs.put(config('b'), 1)).toBe(false);
      expect(await store.pushConfigs.put(config('a', { url: 'https://two.example/' }), 1)).toBe(true);
      expect(await store.pushConfigs.put(config('c', { requestId: 'unknown' }), 9)).toBe(false);
    });

    test('a delivery and the position are recorded together; for one that is gone, neither', async () => {
      await store.pushConfigs.put(config('a'), 10);
      const to = { position: '0.0', isOver: false, delivery: delivery('one') };
      expect(await store.pushConfigs.advance(`${owner} a`, to)).toBe(true);
      expect(await store.pushConfigs.find(key(), 'a')).toMatchObject({ position: '0.0', isOver: false });
      expect(await store.outbox.dueBody(`${owner} one`)).toBe('{}');
      expect(await store.pushConfigs.remove(key(), 'a')).toBe(true);
      expect(await store.pushConfigs.remove(key(), 'a')).toBe(false);
      const next = { position: '1.0', isOver: false, delivery: delivery('two') };
      expect(await store.pushConfigs.advance(`${owner} a`, next)).toBe(false);
      expect(await store.outbox.find(`${owner} two`)).toBeUndefined();
    });

    describe('after a restart', () => {
      fresh();

      test('unfinished ones continue; they are deleted with their request', async () => {
        await store.requests.accept(requestRow({ ...key() }));
        await store.pushConfigs.put(config('a', { createdAt: 2 }), 10);
        await store.pushConfigs.put(config('b'), 10);
        await store.pushConfigs.advance(`${owner} a`, { position: '9.9', isOver: true, delivery: null });
        const held = heldOf(store, key());
        expect(await store.pushConfigs.claim(10)).toEqual([]);
        await store.requests.append(held, [frame(0, { isFinal: true })]);
        await fresh.restart();
        expect((await store.pushConfigs.claim(10)).map(({ configId }) => configId)).toEqual(['b']);
        expect(await store.pushConfigs.claim(10)).toEqual([]);
        await store.requests.purge(Number.MAX_SAFE_INTEGER);
        await fresh.restart();
        expect(await store.pushConfigs.claim(10)).toEqual([]);
      });
    });
  });
}
