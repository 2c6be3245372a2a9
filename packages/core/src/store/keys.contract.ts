import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KeyRow, Store } from './store.ts';

/** The contract of every store for keys. `open` returns a fresh, empty one. */
export function describeKeys(name: string, open: () => Promise<Store>): void {
  describe(`keys in ${name}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(() => store[Symbol.asyncDispose]());

    test('are put, replaced, listed by age and revoked once', async () => {
      const old = key({ keyId: 'old', createdAt: 1, description: null });
      await store.keys.put(key({ keyId: 'new', createdAt: 2, role: 'admin' }));
      await store.keys.put(key({ keyId: 'old', createdAt: 1, description: 'to be replaced' }));
      await store.keys.put(old);
      expect(await store.keys.list()).toEqual([old, key({ keyId: 'new', createdAt: 2, role: 'admin' })]);
      expect(await store.keys.revoke('old', 77)).toBe(true);
      expect(await store.keys.revoke('old', 88)).toBe(false);
      expect(await store.keys.revoke('none', 88)).toBe(false);
      expect((await store.keys.list())[0]).toEqual({ ...old, revokedAt: 77 });
    });
  });
}

function key(fields: Partial<KeyRow> & { keyId: string }): KeyRow {
  return {
    hash: `hash of ${fields.keyId}`,
    agentId: 'ann',
    role: 'agent',
    description: 'd',
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
    ...fields,
  };
}
