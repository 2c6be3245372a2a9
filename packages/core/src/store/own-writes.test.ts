import { expect, test } from 'vitest';
import { OwnWrites } from './own-writes.ts';

/** A promise, and the function that fulfils it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('what is being written before, while and after rows are read is unchanged, and they must be read again', async () => {
  const writes = new OwnWrites();
  const [before, after, list] = [gate(), gate(), gate()];
  const writing = writes.of('before', () => before.opened);
  const own: string[] = [];
  const reading = writes.reading(
    async () => {
      await list.opened;
      return ['before', 'while', 'after', 'other'];
    },
    (rows, isOwn) => own.push(...rows.filter(isOwn)),
  );
  // The reading begins in the next turn.
  await Promise.resolve();
  before.open();
  await writing;
  await writes.of('while', async () => {});
  const last = writes.of('after', () => after.opened);
  list.open();
  expect(await reading).toBe(false);
  expect(own).toEqual(['before', 'while', 'after']);
  after.open();
  await last;
  expect(
    await writes.reading(
      async () => own,
      (rows, isOwn) => expect(rows.some(isOwn)).toBe(false),
    ),
  ).toBe(true);
});

test('an earlier list is never taken after a later one, and one that fails is no obstacle', async () => {
  const writes = new OwnWrites();
  const taken: number[] = [];
  const slow = gate();
  const all = [
    writes.reading(
      () => slow.opened.then(() => [1]),
      (rows) => taken.push(...rows),
    ),
    writes.reading(
      () => Promise.reject(new Error('away')),
      () => {},
    ),
    writes.reading(
      async () => [2],
      (rows) => taken.push(...rows),
    ),
  ];
  slow.open();
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(taken).toEqual([1, 2]);
});
