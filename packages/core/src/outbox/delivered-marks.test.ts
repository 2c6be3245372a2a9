import { expect, test } from 'vitest';
import { DeliveredMarks } from './delivered-marks.ts';

/** A store that remembers which marks were written together. */
function open({ fails = '' } = {}) {
  const calls: { readonly ids: readonly string[]; readonly at: number }[] = [];
  const marks = new DeliveredMarks({
    delivered: async (ids, at) => {
      calls.push({ ids, at });
      if (ids.includes(fails)) throw new Error('the disk is full');
    },
  });
  return { marks, calls, together: () => calls.map(({ ids }) => ids) };
}

test('marks of several turns are written in one', async () => {
  const { marks, calls } = open();
  const written: Promise<void>[] = [];
  for (const [index, id] of ['a', 'b', 'c'].entries()) {
    written.push(marks.add(id, index));
    await new Promise(setImmediate);
  }
  expect(calls).toEqual([]);
  await Promise.all(written);
  expect(calls).toEqual([{ ids: ['a', 'b', 'c'], at: 2 }]);
});

test('a single mark is written after a few turns, and so is a later one', async () => {
  const { marks, together } = open();
  for (const id of ['a', 'b']) {
    await marks.add(id, 1);
    await new Promise(setImmediate);
  }
  expect(together()).toEqual([['a'], ['b']]);
});

test('many do not wait', async () => {
  const { marks, together } = open();
  const ids = Array.from({ length: 70 }, (_, index) => `${index}`);
  const written = Promise.all(ids.map((id) => marks.add(id, 1)));
  expect(together().map(({ length }) => length)).toEqual([32, 32]);
  await written;
  expect(together().flat()).toEqual(ids);
});

test('a mark that cannot be written is rejected, and no other', async () => {
  const { marks, together } = open({ fails: 'b' });
  const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => marks.add(id, 1)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(together()).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
});
