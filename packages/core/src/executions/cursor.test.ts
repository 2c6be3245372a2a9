import { expect, test } from 'vitest';
import { cursorAfter, numberInCursor } from './cursor.ts';

test('a cursor names the execution it was made for', () => {
  for (const number of [1, 42, Number.MAX_SAFE_INTEGER]) expect(numberInCursor(cursorAfter(number))).toBe(number);
});

test.each([
  '',
  '0',
  '042',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '0x2a',
  ' 42',
  '42 ',
  '٤٢',
  '9007199254740992',
  '99999999999999999',
  'x',
])('%j is not a cursor', (text) => {
  expect(numberInCursor(text)).toBeUndefined();
});
