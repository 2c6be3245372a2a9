import { describe, expect, test } from 'vitest';
import { isExpired } from './expiry.ts';
import { normalise } from './shorthand.ts';

const expiring = (expiresAt: string | null) =>
  normalise({ from: 'MyAgent', message: 'Hello', metadata: { expiresAt } });
const now = new Date('2026-03-28T12:00:30.000Z');

describe('a message', () => {
  test('without expiresAt never expires', () => {
    expect(isExpired(expiring(null), new Date(8.64e15))).toBe(false);
  });

  test('expires at the very instant it names', () => {
    expect(isExpired(expiring('2026-03-28T12:00:30.001Z'), now)).toBe(false);
    expect(isExpired(expiring('2026-03-28T12:00:30.000Z'), now)).toBe(true);
    expect(isExpired(expiring('2026-03-28T12:00:29.999Z'), now)).toBe(true);
  });

  test('expires by the clock of its zone', () => {
    expect(isExpired(expiring('2026-03-28T14:00:30+02:00'), now)).toBe(true);
    expect(isExpired(expiring('2026-03-28T11:00:31-01:00'), now)).toBe(false);
  });
});
