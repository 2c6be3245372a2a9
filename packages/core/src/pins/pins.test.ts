import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { PinStore } from '../store/pins.ts';
import { Pins } from './pins.ts';

const open = (store: PinStore = memoryStore().pins) => new Pins({ store, clock: new TestClock() });

test('a tool is used as it was first seen, and held as anything else', async () => {
  const pins = open();
  expect(await pins.admit('s__a', '1')).toBe(true);
  expect(await pins.admit('s__a', '2')).toBe(false);
  expect(pins.held()).toEqual(['s__a']);
  expect(await pins.admit('s__a', '1')).toBe(true);
  expect(pins.held()).toEqual([]);
});

test('a tool that its server does not have any more is not held, and is again when it comes back', async () => {
  const pins = open();
  for (const name of ['s__a', 's__b', 'other__a']) await pins.admit(name, '1');
  for (const name of ['s__a', 's__b', 'other__a']) await pins.admit(name, '2');
  pins.release('s', new Set(['s__b']));
  expect(pins.held()).toEqual(['other__a', 's__b']);
  expect(await pins.accept('s__a')).toBe(false);
  expect(await pins.admit('s__a', '2')).toBe(false);
  expect(pins.held()).toContain('s__a');
});

test('what a server makes up without end is not remembered without end', async () => {
  const { pins: store } = memoryStore();
  const pins = open(store);
  for (let count = 0; count < 10_000; count++) await pins.admit(`s__t${count}`, '1');
  expect(await pins.admit('s__one-more', '1')).toBe(false);
  expect(await pins.admit('s__t0', '1')).toBe(true);
  expect(await pins.admit('other__a', '1')).toBe(true);
  expect(await store.list()).toHaveLength(10_001);
  // The operator may want it all the same, and after a restart too.
  expect(await pins.accept('s__one-more')).toBe(true);
  const again = open(store);
  expect(await again.admit('s__one-more', '1')).toBe(true);
  expect(await again.admit('s__two-more', '1')).toBe(false);
});

test('a store that could not be read is asked again', async () => {
  const { pins: store } = memoryStore();
  await store.put({ name: 's__a', hash: '1', pinnedAt: 0 });
  let isAway = true;
  const pins = open({
    put: (row) => store.put(row),
    list: async () => {
      if (isAway) throw new Error('not now');
      return store.list();
    },
  });
  await expect(pins.admit('s__a', '2')).rejects.toThrow('not now');
  isAway = false;
  expect(await pins.admit('s__a', '2')).toBe(false);
});
