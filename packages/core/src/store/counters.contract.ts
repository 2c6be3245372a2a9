import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from './store.ts';

/** The contract of every store for counters. `open` returns a fresh, empty one. */
export function describeCounters(name: string, open: () => Promise<Store>): void {
  describe(`counters in ${name}`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(() => store[Symbol.asyncDispose]());

    test('are added up, and old slices are dropped', async () => {
      const count = (slice: number, value: number) => ({ principal: 'ann', name: 'requests', slice, count: value });
      await store.counters.add([count(100, 1), count(200, 2)], 0);
      await store.counters.add([count(200, 5), count(300, 1)], 200);
      expect(await store.counters.load(0)).toEqual([count(200, 7), count(300, 1)]);
      expect(await store.counters.load(300)).toEqual([count(300, 1)]);
      await store.counters.add([], 1_000);
      expect(await store.counters.load(0)).toEqual([]);
    });

    test('of one slice are kept apart by principal and name', async () => {
      const rows = ['ann', 'bob'].flatMap((principal) =>
        ['calls', 'requests'].map((name, index) => ({ principal, name, slice: 100, count: index })),
      );
      await store.counters.add(rows, 0);
      expect(await store.counters.load(0)).toEqual(rows);
    });
  });
}
