import { expect, test } from 'vitest';
import { ConnectionShares } from './connection-shares.ts';

test('one address has a quarter of the places, and gets another when it gives one back', () => {
  const shares = new ConnectionShares({ most: 8 });
  const giveBack = shares.take('10.0.0.1');
  expect(shares.take('10.0.0.1')).toBeDefined();
  expect(shares.take('10.0.0.1')).toBeUndefined();
  expect(shares.take('::ffff:10.0.0.1')).toBeUndefined();
  giveBack?.();
  expect(shares.take('10.0.0.1')).toBeDefined();
  expect(shares.size).toBe(2);
});

test('addresses of one IPv6 /64 have a share together', () => {
  const shares = new ConnectionShares({ most: 4 });
  expect(shares.take('2001:db8::1')).toBeDefined();
  expect(shares.take('2001:db8::2')).toBeUndefined();
  expect(shares.take('2001:db8:0:1::1')).toBeDefined();
});

test('a trusted proxy and a unix socket have all places there are', () => {
  const shares = new ConnectionShares({ most: 4, isExempt: (address) => address === '10.0.0.9' });
  for (let count = 0; count < 3; count += 1) expect(shares.take('10.0.0.9')).toBeDefined();
  expect(shares.take(undefined)).toBeDefined();
  expect(shares.take('10.0.0.9')).toBeUndefined();
  expect(shares.take(undefined)).toBeUndefined();
});
