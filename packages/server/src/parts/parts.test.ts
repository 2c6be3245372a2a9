import { expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import type { ServerPart } from './part.ts';
import { Parts } from './parts.ts';

/** A part that records its calls. */
function noting(name: string, notes: string[], more: Partial<ServerPart> = {}): ServerPart {
  const note = (what: string) => async () => {
    notes.push(`${name} ${what}`);
  };
  return { listen: note('listens'), start: note('starts'), drain: note('drains'), stop: note('stops'), ...more };
}

test('parts listen and start in order; all have drained, the last one first, before one stops', async () => {
  const notes: string[] = [];
  const parts = new Parts(new TestClock());
  await parts.add(noting('a', notes));
  await parts.add(Promise.resolve(noting('b', notes)));
  await parts.listen();
  await parts.start();
  await parts.stop(0);
  expect(notes).toEqual([
    ...['a listens', 'b listens', 'a starts', 'b starts'],
    ...['b drains', 'a drains', 'b stops', 'a stops'],
  ]);
});

test('a part that fails to stop does not keep the others from it, and its error is thrown', async () => {
  const notes: string[] = [];
  const parts = new Parts(new TestClock());
  await parts.add(noting('a', notes));
  await parts.add(noting('b', notes, { drain: () => Promise.reject(new Error('b cannot drain')) }));
  await expect(parts.stop(0)).rejects.toThrow('b cannot drain');
  expect(notes).toEqual(['a drains', 'b stops', 'a stops']);
});

test('all parts together drain within the time given', async () => {
  const clock = new TestClock();
  const parts = new Parts(clock);
  const given: number[] = [];
  const draining = (ms: number): ServerPart => ({
    drain: async (drainMs) => {
      given.push(drainMs);
      await clock.advance(ms);
    },
  });
  for (const ms of [0, 900, 300]) await parts.add(draining(ms));
  await parts.stop(1000);
  expect(given).toEqual([1000, 700, 0]);
});

test('parts that open later are collected with the earlier ones', async () => {
  const parts = new Parts(new TestClock());
  const reloadable = (name: string) => ({ names: [name], prepare: () => ({ put: () => {} }) });
  await parts.add({ reloadables: [reloadable('a')] });
  await parts.add({});
  await parts.add({ reloadables: [reloadable('b')] });
  expect(parts.reloadables.flatMap(({ names }) => names)).toEqual(['a', 'b']);
});
