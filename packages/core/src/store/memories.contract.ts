import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MemoryEntryRow } from './memories.ts';
import type { Store } from './store.ts';

/** The contract of every store for the memory of agents. `open` returns a fresh, empty one. */
export function describeMemories(name: string, open: () => Promise<Store>): void {
  describe(`${name}: memories`, () => {
    let store: Store;
    let spaces = 0;
    const nextSpace = () => `space-${++spaces}`;

    beforeAll(async () => {
      store = await open();
    });

    afterAll(() => store[Symbol.asyncDispose]());

    test('a memory is found by its owner alone, as it was first opened', async () => {
      const row = { memoryId: 'm1', owner: 'ann', namespace: 'n', scope: '{"a":"b"}', createdAt: 1 };
      await store.memories.open(row, PLENTY);
      await store.memories.open({ ...row, namespace: 'other', createdAt: 2 }, PLENTY);
      expect(await store.memories.find('ann', 'm1')).toEqual(row);
      expect(await store.memories.find('bob', 'm1')).toBeUndefined();
      expect(await store.memories.find('ann', 'm2')).toBeUndefined();
    });

    test('of the memories an owner opens so many are known as it may have entries, the latest of them', async () => {
      const quota = { entries: 2, size: 20, spaces: 2 };
      const openedBy = async (owner: string, memoryId: string, createdAt: number, scope = '{}') =>
        store.memories.open({ memoryId, owner, namespace: 'n', scope, createdAt }, quota);
      const knownOf = async (owner: string) => {
        const ids = ['a', 'b', 'c', 'd', 'e'];
        const found = await Promise.all(ids.map((id) => store.memories.find(owner, id)));
        return found.flatMap((row) => row?.memoryId ?? []);
      };
      await openedBy('dan', 'a', 1);
      for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) await openedBy('cat', id, at);
      expect(await knownOf('cat')).toEqual(['a', 'b', 'c', 'd']);
      await openedBy('cat', 'a', 5);
      await openedBy('cat', 'e', 5);
      expect(await knownOf('cat')).toEqual(['b', 'c', 'd', 'e']);
      // The space that was just opened is kept, even if it is the oldest and large.
      await openedBy('cat', 'a', 0, JSON.stringify({ a: 'x'.repeat(24) }));
      expect(await knownOf('cat')).toEqual(['a', 'd', 'e']);
      expect(await knownOf('dan')).toEqual(['a']);
    });

    test('the same key again replaces the entry and keeps when it was made; the latest come first', async () => {
      const space = nextSpace();
      await store.memories.put(entry({ space, key: 'a', createdAt: 1, updatedAt: 1 }), PLENTY);
      await store.memories.put(entry({ space, key: 'b', createdAt: 2, updatedAt: 2 }), PLENTY);
      const later = entry({ space, key: 'a', entry: '"new"', createdAt: 3, updatedAt: 3 });
      expect(await store.memories.put(later, PLENTY)).toBe('stored');
      expect(await store.memories.list(space, 0)).toEqual([
        { ...later, createdAt: 1 },
        entry({ space, key: 'b', createdAt: 2, updatedAt: 2 }),
      ]);
    });

    test("another's entry is neither replaced nor forgotten", async () => {
      const space = nextSpace();
      const hers = entry({ space, owner: 'ann' });
      await store.memories.put(hers, PLENTY);
      expect(await store.memories.put({ ...hers, owner: 'bob', entry: '"his"' }, PLENTY)).toBe('foreign');
      expect(await store.memories.remove(space, 'bob', ['k'])).toBe(0);
      expect(await store.memories.list(space, 0)).toEqual([hers]);
      expect(await store.memories.remove(space, 'ann', ['k', 'unknown'])).toBe(1);
      expect(await store.memories.list(space, 0)).toEqual([]);
    });

    test('a space is limited by its quota, and replacing an entry adds nothing', async () => {
      const space = nextSpace();
      const two = { entries: 2, size: 100, spaces: 100 };
      expect(await store.memories.put(entry({ space, key: 'a' }), two)).toBe('stored');
      expect(await store.memories.put(entry({ space, key: 'b' }), two)).toBe('stored');
      expect(await store.memories.put(entry({ space, key: 'c' }), two)).toBe('full');
      expect(await store.memories.put(entry({ space, key: 'b', entry: '"again"' }), two)).toBe('stored');
      const large = entry({ space, key: 'b', entry: JSON.stringify('x'.repeat(100)) });
      expect(await store.memories.put(large, two)).toBe('full');
      expect(await store.memories.list(space, 0)).toHaveLength(2);
    });

    test('an owner is limited to the size of so many full spaces, and replacing an entry adds nothing', async () => {
      const quota = { entries: 2, size: 50, spaces: 2 };
      const owner = 'eva';
      const [a, b, c, d, e] = [nextSpace(), nextSpace(), nextSpace(), nextSpace(), nextSpace()];
      const put = (fields: Partial<MemoryEntryRow>) => store.memories.put(entry({ owner, ...fields }), quota);
      for (const space of [a, b, c]) expect(await put({ space })).toBe('stored');
      expect(await put({ space: d, expiresAt: 50 })).toBe('stored');
      expect(await put({ space: e, updatedAt: 49 })).toBe('owner_full');
      expect(await put({ space: e, owner: 'finn' })).toBe('stored');
      expect(await put({ space: a, entry: '"again"' })).toBe('stored');
      // Expired entries in any space of the owner are deleted, which makes room.
      expect(await put({ space: e, key: 'other', updatedAt: 50 })).toBe('stored');
      expect(await store.memories.list(d, 0)).toEqual([]);
      expect(await store.memories.remove(c, owner, ['k'])).toBe(1);
      // The owner may store 100 characters: 42, 42, the 6 that are there already, and 10.
      const large = JSON.stringify('x'.repeat(40));
      expect(await put({ space: a, entry: large })).toBe('stored');
      expect(await put({ space: b, entry: large })).toBe('stored');
      expect(await put({ space: c, entry: JSON.stringify('12345678') })).toBe('stored');
      expect(await put({ space: c, entry: JSON.stringify('123456789') })).toBe('owner_full');
    });

    test('what has expired is gone, and makes room', async () => {
      const space = nextSpace();
      const one = { entries: 1, size: 100, spaces: 100 };
      await store.memories.put(entry({ space, key: 'a', expiresAt: 50 }), one);
      expect(await store.memories.list(space, 49)).toHaveLength(1);
      expect(await store.memories.list(space, 50)).toHaveLength(0);
      expect(await store.memories.put(entry({ space, key: 'b', updatedAt: 50, expiresAt: 60 }), one)).toBe('stored');
      // The expired entry is deleted, not only hidden: otherwise short-lived entries could fill the disk in spite of
      // the quota.
      expect((await store.memories.list(space, 0)).map(({ key }) => key)).toEqual(['b']);
      expect(await store.memories.purge(55)).toBe(0);
      expect(await store.memories.purge(60)).toBe(1);
    });

    test("another's expired entry does not block a key", async () => {
      const space = nextSpace();
      await store.memories.put(entry({ space, owner: 'ann', expiresAt: 50 }), PLENTY);
      const his = entry({ space, owner: 'bob', createdAt: 50, updatedAt: 50 });
      expect(await store.memories.put(his, PLENTY)).toBe('stored');
      expect(await store.memories.list(space, 50)).toEqual([his]);
    });
  });
}

function entry(fields: Partial<MemoryEntryRow>): MemoryEntryRow {
  return {
    space: 's',
    key: 'k',
    owner: 'ann',
    entry: '"text"',
    createdAt: 1,
    updatedAt: 1,
    expiresAt: null,
    ...fields,
  };
}

const PLENTY = { entries: 100, size: 10_000, spaces: 100 };
