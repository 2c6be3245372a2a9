import { describe, expect, test } from 'vitest';
import { pauseBefore } from './retry-policy.ts';

const POLICY = { retries: 3, backoffMs: 1000, longestMs: 3_600_000 };

describe('the pause before the next try', () => {
  test('is 1, 4 and 16 seconds with up to 100 % jitter, and ends after that', () => {
    const pauses = (random: number) => [1, 2, 3, 4].map((failed) => pauseBefore(POLICY, { failed, random }));
    expect(pauses(0)).toEqual([1000, 4000, 16_000, undefined]);
    expect(pauses(0.25)).toEqual([1250, 5000, 20_000, undefined]);
    expect(pauses(1)).toEqual([2000, 8000, 32_000, undefined]);
  });

  test('is at least the Retry-After of the receiver, up to the bound', () => {
    expect(pauseBefore(POLICY, { failed: 1, random: 0.5, retryAfterMs: 30_000 })).toBe(30_000);
    expect(pauseBefore(POLICY, { failed: 3, random: 0.5, retryAfterMs: 5000 })).toBe(24_000);
    expect(pauseBefore(POLICY, { failed: 1, random: 1, retryAfterMs: 1e12 })).toBe(3_600_000);
    expect(pauseBefore({ ...POLICY, longestMs: 10_000 }, { failed: 3, random: 0 })).toBe(10_000);
    expect(pauseBefore(POLICY, { failed: 4, random: 1, retryAfterMs: 1000 })).toBeUndefined();
  });
});
