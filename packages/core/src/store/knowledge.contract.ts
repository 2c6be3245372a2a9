import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KnowledgeBaseRow } from './knowledge.ts';
import type { Store } from './store.ts';

/** The contract of every store for knowledge bases. `open` returns a fresh, empty one. */
export function describeKnowledge(name: string, open: () => Promise<Store>): void {
  describe(`knowledge bases in ${name}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(() => store[Symbol.asyncDispose]());

    test('are put, replaced, listed by age and removed once', async () => {
      await store.knowledge.put(row('second', { createdAt: 2 }));
      await store.knowledge.put(row('first'));
      await store.knowledge.put(row('same-moment', { createdAt: 2 }));
      expect(await store.knowledge.list()).toEqual([
        row('first'),
        row('same-moment', { createdAt: 2 }),
        row('second', { createdAt: 2 }),
      ]);
      await store.knowledge.put(row('first', { definition: '{"description":"é\\u0000\'"}' }));
      expect((await store.knowledge.list())[0]?.definition).toBe('{"description":"é\\u0000\'"}');
      expect(await store.knowledge.remove('first')).toBe(true);
      expect(await store.knowledge.remove('first')).toBe(false);
      expect((await store.knowledge.list()).map(({ baseId }) => baseId)).toEqual(['same-moment', 'second']);
    });

    test('are refused by a closed store', async () => {
      await store[Symbol.asyncDispose]();
      await expect(store.knowledge.put(row('late'))).rejects.toMatchObject({ code: 'store_unavailable' });
    });
  });
}

function row(baseId: string, fields: Partial<KnowledgeBaseRow> = {}): KnowledgeBaseRow {
  return { baseId, definition: '{}', createdAt: 1, ...fields };
}
