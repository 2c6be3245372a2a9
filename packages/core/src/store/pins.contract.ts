import { describe, expect, test } from 'vitest';
import type { Store } from './store.ts';

/** The contract of every store for pins. `open` returns a fresh, empty one. */
export function describePins(name: string, open: () => Promise<Store>): void {
  describe(`${name}: pins`, () => {
    test('the last pin of a name is the one that is listed, with its definition to be read by itself', async () => {
      await using store = await open();
      await store.pins.put({ name: 'files__write', hash: 'b', pinnedAt: 1, definition: '{"b":1}' });
      await store.pins.put({ name: 'files__read', hash: 'a', pinnedAt: 2, definition: null });
      await store.pins.put({ name: 'files__write', hash: 'c', pinnedAt: 3, definition: '{"c":1}' });
      expect(await store.pins.list()).toEqual([
        { name: 'files__read', hash: 'a', pinnedAt: 2, refused: null, hasDefinition: false },
        { name: 'files__write', hash: 'c', pinnedAt: 3, refused: null, hasDefinition: true },
      ]);
      expect(await store.pins.definition('files__write')).toBe('{"c":1}');
      expect(await store.pins.definition('files__read')).toBeNull();
      expect(await store.pins.definition('files__gone')).toBeNull();
    });

    test('of two that pin a name for the first time, the first one counts for both', async () => {
      await using store = await open();
      const pin = { name: 'files__write', hash: 'a', pinnedAt: 1, definition: '{}' };
      const both = await Promise.all([store.pins.add(pin), store.pins.add({ ...pin, hash: 'b', definition: null })]);
      expect(both[0]).toEqual(both[1]);
      expect(await store.pins.list()).toEqual([both[0]]);
      expect(await store.pins.add({ ...pin, hash: 'c' })).toEqual(both[0]);
    });

    test('a change that was refused is recorded until the name is pinned again', async () => {
      await using store = await open();
      const pin = { name: 'files__write', hash: 'a', pinnedAt: 1, definition: null };
      await store.pins.put(pin);
      await store.pins.refuse('files__write', 'b');
      expect(await store.pins.list()).toMatchObject([{ hash: 'a', refused: 'b' }]);
      await store.pins.put({ ...pin, hash: 'c' });
      expect(await store.pins.list()).toMatchObject([{ hash: 'c', refused: null }]);
    });
  });
}
