import { describe, expect, test } from 'vitest';
import type { Store } from './store.ts';

/** What every store must do with pins. `open` gives a fresh, empty one. */
export function describePins(name: string, open: () => Promise<Store>): void {
  describe(`${name}: pins`, () => {
    test('the last pin of a name is the one that is listed', async () => {
      await using store = await open();
      await store.pins.put({ name: 'files__write', hash: 'b', pinnedAt: 1 });
      await store.pins.put({ name: 'files__read', hash: 'a', pinnedAt: 2 });
      await store.pins.put({ name: 'files__write', hash: 'c', pinnedAt: 3 });
      expect(await store.pins.list()).toEqual([
        { name: 'files__read', hash: 'a', pinnedAt: 2 },
        { name: 'files__write', hash: 'c', pinnedAt: 3 },
      ]);
    });
  });
}
