import { expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { RecentHour } from './recent-hour.ts';

test('the readings of one hour are kept, oldest first, until it is stopped', async () => {
  const clock = new TestClock();
  let accepted = 0;
  const none = { succeeded: 0, failed: 0, frames: 0, commits: 0, running: 0, waiting: 0 };
  const hour = new RecentHour(clock, async () => ({ accepted: accepted++, ...none }));
  hour.start();
  for (let tick = 0; tick < 400; tick++) await clock.advance(10_000);
  expect(hour.readings).toHaveLength(360);
  const [first] = hour.readings;
  const last = hour.readings.at(-1);
  expect((last?.at ?? 0) - (first?.at ?? 0)).toBe(359 * 10_000);
  hour.stop();
  await clock.advance(60_000);
  expect(hour.readings.at(-1)).toEqual(last);
});
