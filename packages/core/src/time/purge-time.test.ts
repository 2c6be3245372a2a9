import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { PurgeTime } from './purge-time.ts';

const HOUR = 3_600_000;

test('a jump of the clock ahead is not followed, one back is, and time that passes is', () => {
  const clock = new TestClock();
  const time = new PurgeTime({ clock, log: new SilentLog() });
  const start = clock.now().getTime();
  clock.jump(48 * HOUR);
  expect(time.now()).toBe(start);
  clock.pass(HOUR);
  expect(time.now()).toBe(start + HOUR);
  clock.jump(-72 * HOUR);
  expect(time.now()).toBe(start - 23 * HOUR);
});

test('after a start more than a day after the newest data, time stays there for an hour', () => {
  const clock = new TestClock();
  const now = clock.now().getTime();
  const time = new PurgeTime({ clock, log: new SilentLog() });
  time.start(now - 25 * HOUR);
  clock.pass(HOUR - 1);
  expect(time.now()).toBe(now - 25 * HOUR);
  clock.pass(1);
  expect(time.now()).toBe(now + HOUR);
});

test('after a start within a day, or with an empty store, time is that of the clock', () => {
  const clock = new TestClock();
  const now = clock.now().getTime();
  for (const newest of [0, now - 24 * HOUR, now + HOUR]) {
    const time = new PurgeTime({ clock, log: new SilentLog() });
    time.start(newest);
    expect(time.now()).toBe(now);
  }
});

test('time is in whole milliseconds, although elapsed time is not', () => {
  const clock = new TestClock();
  const time = new PurgeTime({ clock, log: new SilentLog() });
  clock.pass(0.25);
  clock.jump(HOUR);
  expect(Number.isInteger(time.now())).toBe(true);
});
