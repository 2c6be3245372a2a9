import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiRow } from './apis.ts';
import type { Store } from './store.ts';

/** The contract of every store for APIs. `open` returns a fresh, empty one. */
export function describeApis(name: string, open: () => Promise<Store>): void {
  describe(`APIs in ${name}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(() => store[Symbol.asyncDispose]());

    test('are put, replaced, listed by age and removed once', async () => {
      await store.apis.put(row('second', { createdAt: 2 }));
      await store.apis.put(row('first'));
      await store.apis.put(row('same-moment', { createdAt: 2 }));
      expect(await store.apis.list()).toEqual([
        row('first'),
        row('same-moment', { createdAt: 2 }),
        row('second', { createdAt: 2 }),
      ]);
      await store.apis.put(row('first', { definition: '{"description":"é\\u0000\'"}' }));
      expect((await store.apis.list())[0]?.definition).toBe('{"description":"é\\u0000\'"}');
      expect(await store.apis.remove('first')).toBe(true);
      expect(await store.apis.remove('first')).toBe(false);
      expect((await store.apis.list()).map(({ apiId }) => apiId)).toEqual(['same-moment', 'second']);
    });

    test('are refused by a closed store', async () => {
      await store[Symbol.asyncDispose]();
      await expect(store.apis.put(row('late'))).rejects.toMatchObject({ code: 'store_unavailable' });
    });
  });
}

function row(apiId: string, fields: Partial<ApiRow> = {}): ApiRow {
  return { apiId, definition: '{}', createdAt: 1, ...fields };
}
