import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from './store.ts';
import type { NewWorkflow } from './workflows.ts';

/** The contract of every store for stored workflows. `open` returns a fresh, empty one. */
export function describeWorkflows(name: string, open: () => Promise<Store>): void {
  describe(`stored workflows in ${name}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(() => store[Symbol.asyncDispose]());

    test('keep every version, and list the newest of each name', async () => {
      await store.workflows.put(workflow('b'));
      await store.workflows.put(workflow('a', { text: 'é\\u0000\'"' }));
      expect(await store.workflows.put(workflow('b', { text: 'other', createdAt: 2 }))).toMatchObject({ version: 2 });
      expect(await store.workflows.list()).toEqual([
        { ...workflow('a', { text: 'é\\u0000\'"' }), version: 1, removedAt: null },
        { ...workflow('b', { text: 'other', createdAt: 2 }), version: 2, removedAt: null },
      ]);
      expect((await store.workflows.versions('b')).map(({ version, text }) => [version, text])).toEqual([
        [2, 'other'],
        [1, '{}'],
      ]);
      expect(await store.workflows.versions('c')).toEqual([]);
    });

    test('get no new version for the same text and description', async () => {
      await store.workflows.put(workflow('a'));
      expect(await store.workflows.put(workflow('a', { createdAt: 2 }))).toMatchObject({ version: 1, createdAt: 1 });
      expect(await store.workflows.put(workflow('a', { description: 'other' }))).toMatchObject({ version: 2 });
      // Going back to the earlier text is another change.
      expect(await store.workflows.put(workflow('a'))).toMatchObject({ version: 3 });
    });

    test('are removed once with all versions, and continue to count when they are stored again', async () => {
      await store.workflows.put(workflow('a'));
      await store.workflows.put(workflow('a', { text: 'other' }));
      await store.workflows.put(workflow('b'));
      expect(await store.workflows.remove('a', 5)).toBe(true);
      expect(await store.workflows.remove('a', 6)).toBe(false);
      expect((await store.workflows.list()).map(({ name }) => name)).toEqual(['b']);
      expect(await store.workflows.put(workflow('a', { text: 'other' }))).toMatchObject({ version: 3 });
      expect((await store.workflows.versions('a')).map(({ version, removedAt }) => [version, removedAt])).toEqual([
        [3, null],
        [2, 5],
        [1, 5],
      ]);
    });

    test('are refused by a closed store', async () => {
      await store[Symbol.asyncDispose]();
      await expect(store.workflows.put(workflow('late'))).rejects.toMatchObject({ code: 'store_unavailable' });
    });
  });
}

function workflow(name: string, fields: Partial<NewWorkflow> = {}): NewWorkflow {
  return { name, description: '', text: '{}', planHash: 'hash', createdAt: 1, ...fields };
}
