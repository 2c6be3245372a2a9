import { expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { eachSecond } from './each-second.ts';

test('a flood is one report a second, with how many there were', () => {
  const clock = new TestClock();
  const reports: number[] = [];
  const report = eachSecond(clock, (count) => reports.push(count));
  for (let count = 0; count < 100; count += 1) report();
  clock.pass(1_000);
  report();
  expect(reports).toEqual([1, 100]);
});
