import { expect, test } from 'vitest';
import { DeliveredMarks } from './delivered-marks.ts';

/** A store that writes down which marks came in which turn of the loop. */
function open({ fails = '' } = {}) {
  const turns: string[][] = [];
  let isSameTurn = false;
  const marks = new DeliveredMarks({
    delivered: async (id) => {
      if (!isSameTurn) turns.push([]);
      isSameTurn = true;
      setImmediate(() => {
        isSameTurn = false;
      });
      turns.at(-1)?.push(id);
      if (id === fails) throw new Error('the disk is full');
    },
  });
  return { marks, turns };
}

test('marks of several turns are written in one', async () => {
  const { marks, turns } = open();
  const written: Promise<void>[] = [];
  for (const id of ['a', 'b', 'c']) {
    written.push(marks.add(id, 1));
    await new Promise(setImmediate);
  }
  expect(turns).toEqual([]);
  await Promise.all(written);
  expect(turns).toEqual([['a', 'b', 'c']]);
});

test('one alone is written after a few turns, and so is one that comes later', async () => {
  const { marks, turns } = open();
  for (const id of ['a', 'b']) {
    await marks.add(id, 1);
    await new Promise(setImmediate);
  }
  expect(turns).toEqual([['a'], ['b']]);
});

test('many do not wait', async () => {
  const { marks, turns } = open();
  const ids = Array.from({ length: 70 }, (_, index) => `${index}`);
  const written = Promise.all(ids.map((id) => marks.add(id, 1)));
  expect(turns.flat()).toHaveLength(64);
  await written;
  expect(turns.flat()).toEqual(ids);
});

test('one that cannot be written is told so, and no other', async () => {
  const { marks } = open({ fails: 'b' });
  const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => marks.add(id, 1)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
