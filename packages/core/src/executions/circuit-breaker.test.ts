import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

test('opens at the fifth failure in a row, for a minute, and then lets one try', () => {
  const clock = new TestClock();
  const breaker = new CircuitBreaker({ clock });
  for (let count = 0; count < 4; count++) breaker.failed('a');
  expect(breaker.admit('a')).toBe(0);
  breaker.failed('a');
  expect(breaker.admit('a')).toBe(60_000);
  clock.pass(59_999);
  expect(breaker.admit('a')).toBe(1);
  clock.pass(1);
  expect(breaker.admit('a')).toBe(0);
  // Half-open: the others wait for how that one ends.
  expect(breaker.admit('a')).toBeGreaterThan(0);
  breaker.failed('a');
  expect(breaker.admit('a')).toBe(60_000);
  clock.pass(60_000);
  breaker.admit('a');
  breaker.succeeded('a');
  expect([breaker.admit('a'), breaker.admit('a')]).toEqual([0, 0]);
});

test('a success in between starts the count again, and names do not share one', () => {
  const breaker = new CircuitBreaker({ clock: new TestClock() });
  for (let count = 0; count < 4; count++) breaker.failed('a');
  breaker.succeeded('a');
  for (let count = 0; count < 4; count++) breaker.failed('a');
  for (let count = 0; count < 5; count++) breaker.failed('b');
  expect(breaker.admit('a')).toBe(0);
  expect(breaker.admit('b')).toBeGreaterThan(0);
});
