import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { PinStore } from '../store/pins.ts';
import { Pins } from './pins.ts';

const as = (hash: string) => ({ hash, definition: `{"is":"${hash}"}` });
const open = (store: PinStore = memoryStore().pins) => new Pins({ store, clock: new TestClock() });

test('a tool is used as it was first seen, and held as anything else', async () => {
  const pins = open();
  expect(await pins.admit('s__a', as('1'))).toBe(true);
  expect(await pins.admit('s__a', as('2'))).toBe(false);
  expect(pins.held()).toEqual(['s__a']);
  expect(await pins.admit('s__a', as('1'))).toBe(true);
  expect(pins.held()).toEqual([]);
});

test('a change says what was and what is, and one that was refused is held without asking again', async () => {
  const { pins: store } = memoryStore();
  const pins = open(store);
  await pins.admit('s__a', as('1'));
  await pins.admit('s__a', as('2'));
  const change = { before: '{"is":"1"}', now: '{"is":"2"}', pinnedAt: expect.any(Number) };
  expect(await pins.change('s__a')).toEqual({ ...change, isRefused: false });
  expect(pins.undecided()).toEqual(['s__a']);
  expect(await pins.refuse('s__b')).toBe(false);
  expect(await pins.refuse('s__a')).toBe(true);
  const again = open(store);
  expect(await again.admit('s__a', as('2'))).toBe(false);
  expect(await again.change('s__a')).toEqual({ ...change, isRefused: true });
  expect([again.held(), again.undecided()]).toEqual([['s__a'], []]);
  await again.admit('s__a', as('3'));
  expect(again.undecided()).toEqual(['s__a']);
});

test('a pin of a version that recorded the hash alone gets its definition when it is seen again', async () => {
  const { pins: store } = memoryStore();
  await store.put({ name: 's__a', hash: '1', pinnedAt: 0, definition: null });
  const pins = open(store);
  expect(await pins.admit('s__a', as('1'))).toBe(true);
  expect(await store.definition('s__a')).toBe('{"is":"1"}');
});

test('a tool that its server does not have any more is not held, and is again when it comes back', async () => {
  const pins = open();
  for (const name of ['s__a', 's__b', 'other__a']) await pins.admit(name, as('1'));
  for (const name of ['s__a', 's__b', 'other__a']) await pins.admit(name, as('2'));
  pins.release('s', new Set(['s__b']));
  expect(pins.held()).toEqual(['other__a', 's__b']);
  expect(await pins.accept('s__a')).toBe(false);
  expect(await pins.admit('s__a', as('2'))).toBe(false);
  expect(pins.held()).toContain('s__a');
});

test('the number of remembered definitions is bounded', async () => {
  const { pins: store } = memoryStore();
  const pins = open(store);
  for (let count = 0; count < 10_000; count++) await pins.admit(`s__t${count}`, as('1'));
  expect(await pins.admit('s__one-more', as('1'))).toBe(false);
  expect(await pins.admit('s__t0', as('1'))).toBe(true);
  expect(await pins.admit('other__a', as('1'))).toBe(true);
  expect(await store.list()).toHaveLength(10_001);
  // The operator may want it all the same, and after a restart too.
  expect(await pins.accept('s__one-more')).toBe(true);
  const again = open(store);
  expect(await again.admit('s__one-more', as('1'))).toBe(true);
  expect(await again.admit('s__two-more', as('1'))).toBe(false);
});

test('a store that could not be read is asked again', async () => {
  const { pins: store } = memoryStore();
  await store.put({ name: 's__a', hash: '1', pinnedAt: 0, definition: null });
  let isAway = true;
  const pins = open({
    ...store,
    list: async () => {
      if (isAway) throw new Error('not now');
      return store.list();
    },
  });
  await expect(pins.admit('s__a', as('2'))).rejects.toThrow('not now');
  isAway = false;
  expect(await pins.admit('s__a', as('2'))).toBe(false);
});
