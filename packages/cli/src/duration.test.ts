import { expect, test } from 'vitest';
import { duration, inWords } from './duration.ts';

test.each([
  ['30', 30_000],
  ['1.5', 1500],
  ['500ms', 500],
  ['2s', 2000],
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['30d', 2_592_000_000],
])('the time %s is %i ms: a number alone is seconds', (text, milliseconds) => {
  expect(duration({ fromMs: 1, toMs: 1e12 })(text)).toBe(milliseconds);
});

test.each(['', '0', '-1', '1w', '5 m', 'soon', '2d'])('%j is refused with what may be given', (text) => {
  expect(() => duration({ fromMs: 1, toMs: 86_400_000 })(text)).toThrow(
    'Give a time from 1ms to 1d: seconds, or a number with ms, s, m, h or d.',
  );
});

test('a time is written in the largest unit that fits', () => {
  expect([1, 1500, 2000, 90_000, 86_400_000].map(inWords)).toEqual(['1ms', '1500ms', '2s', '90s', '1d']);
});
