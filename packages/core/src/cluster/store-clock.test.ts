import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { StoreClock } from './store-clock.ts';

/** A database whose clock is so far ahead of this machine's, and answers after so long. */
function database({ ahead, takes = 0 }: { ahead: number; takes?: number }) {
  const clock = new TestClock();
  const log = new SilentLog();
  const state = { ahead, takes };
  const zero = clock.now().getTime();
  const read = async () => {
    await clock.advance(state.takes / 2);
    const time = zero + clock.elapsed() + state.ahead;
    await clock.advance(state.takes / 2);
    return time;
  };
  const difference = (opened: StoreClock) => opened.now().getTime() - (zero + clock.elapsed());
  return { clock, log, state, read, difference, open: () => StoreClock.open({ read, clock, log }) };
}

test('the time is that of the database, however long the answer took, and advances by elapsed time', async () => {
  const { clock, difference, open, log } = database({ ahead: 4000, takes: 200 });
  const opened = await open();
  expect(difference(opened)).toBe(4000);
  // The wall clock of this machine is set; nothing of that is seen.
  clock.jump(100_000);
  await clock.advance(60_000);
  expect(difference(opened)).toBe(4000);
  expect(log.lines).toEqual([]);
});

test('it follows the clock of the database, but neither small differences nor answers that took long', async () => {
  const { state, difference, open } = database({ ahead: 0, takes: 20 });
  const opened = await open();
  state.ahead = 8;
  await opened.look();
  expect(difference(opened)).toBe(0);
  state.ahead = 300;
  await opened.look();
  expect(difference(opened)).toBe(300);
  Object.assign(state, { ahead: 9000, takes: 1500 });
  await opened.look();
  expect(difference(opened)).toBe(300);
  Object.assign(state, { ahead: -700, takes: 20 });
  await opened.look();
  expect(difference(opened)).toBe(-700);
});

test('a machine whose clock is wrong by more than 5 s is warned of once, by more than 60 s it is refused', async () => {
  const wrong = database({ ahead: -7000 });
  const opened = await wrong.open();
  await opened.look();
  expect(wrong.log.lines).toMatchObject([
    { level: 'warn', message: expect.stringContaining('7 s ahead of that of the database') },
  ]);
  await expect(database({ ahead: 61_000 }).open()).rejects.toMatchObject({
    code: 'store_unreachable',
    message: expect.stringContaining('61 s behind that of the database'),
  });
});
