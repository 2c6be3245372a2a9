import { expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { FailedLogins } from './failed-logins.ts';

test('failed logins are counted by address, the latest first, and only so many addresses are kept', () => {
  const clock = new TestClock();
  const logins = new FailedLogins(clock);
  const start = clock.now();
  logins.add('192.0.2.1');
  logins.add('192.0.2.2');
  logins.add('192.0.2.1');
  expect(logins.recent).toEqual([
    { address: '192.0.2.1', count: 2, firstAt: start, lastAt: start },
    { address: '192.0.2.2', count: 1, firstAt: start, lastAt: start },
  ]);
  for (let at = 0; at < 200; at++) logins.add(`198.51.100.${at}`);
  expect(logins.recent).toHaveLength(100);
  expect(logins.recent[0]?.address).toBe('198.51.100.199');
  expect(logins.total).toBe(203);
});
