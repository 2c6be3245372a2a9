import { expect, test, vi } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { Deadlines } from './deadlines.ts';

test('short waits end exactly, long ones within a moment, and cancelled ones never', () => {
  const clock = new TestClock();
  const deadlines = new Deadlines(clock);
  const [short, long, never] = [vi.fn(), vi.fn(), vi.fn()];
  deadlines.after(10, short);
  deadlines.after(30_000, long);
  deadlines.after(30_000, never)();
  clock.pass(10);
  expect(short).toHaveBeenCalledOnce();
  for (let passed = 10; passed < 29_900; passed += 100) clock.pass(100);
  expect(long).not.toHaveBeenCalled();
  for (let more = 0; more < 4; more++) clock.pass(100);
  expect(long).toHaveBeenCalledOnce();
  expect(never).not.toHaveBeenCalled();
});

test('nothing ticks where nothing waits', () => {
  const clock = new TestClock();
  const deadlines = new Deadlines(clock);
  deadlines.after(30_000, () => {})();
  clock.pass(200);
  expect(clock.waiting).toBe(0);
});
