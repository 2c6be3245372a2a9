import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = new Date('2026-03-28T12:00:00.000Z');

test.each([
  ['120', 120_000],
  ['0', 0],
  ['99999999999', 99_999_999_999_000],
  ['9'.repeat(400), 1e15],
  ['Sat, 28 Mar 2026 12:01:00 GMT', 60_000],
  ['Sat, 28 Mar 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  ['-5x', undefined],
  ['1.5', undefined],
  ['2026-03-28', undefined],
  [undefined, undefined],
  [['1', '2'], undefined],
])('%j is %j milliseconds', (field, milliseconds) => {
  expect(retryAfterMs(field, now)).toBe(milliseconds);
});
