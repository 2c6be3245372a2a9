import { describe, expect, test } from 'vitest';
import { pauseBefore } from './retry-policy.ts';

const POLICY = { retries: 3, backoffMs: 1000, longestMs: 3_600_000 };

describe('the pause before the next try', () => {
  test('is anything up to 1, 4 and 16 seconds, and then there is none', () => {
    const longest = [1, 2, 3, 4].map((failed) => pauseBefore(POLICY, { failed, random: 1 }));
    expect(longest).toEqual([1000, 4000, 16_000, undefined]);
    expect([1, 2, 3].map((failed) => pauseBefore(POLICY, { failed, random: 0 }))).toEqual([0, 0, 0]);
    expect(pauseBefore(POLICY, { failed: 2, random: 0.25 })).toBe(1000);
  });

  test('is at least what the receiver asked for, but not for ever', () => {
    expect(pauseBefore(POLICY, { failed: 1, random: 0.5, retryAfterMs: 30_000 })).toBe(30_000);
    expect(pauseBefore(POLICY, { failed: 3, random: 1, retryAfterMs: 5000 })).toBe(16_000);
    expect(pauseBefore(POLICY, { failed: 1, random: 1, retryAfterMs: 1e12 })).toBe(3_600_000);
    expect(pauseBefore(POLICY, { failed: 4, random: 1, retryAfterMs: 1000 })).toBeUndefined();
  });
});
