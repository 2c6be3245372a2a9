import { expect, test } from 'vitest';
import { each, integer } from './command.ts';

test('a whole number is taken within its bounds and nowhere else', () => {
  const port = integer({ from: 0, to: 65_535 });
  expect(port('0')).toBe(0);
  expect(port('65535')).toBe(65_535);
  for (const text of ['65536', '-1', '1.5', '1e3', '0x10', '', ' 1', '99999999999999999999']) {
    expect(() => port(text), text).toThrow('Give a whole number from 0 to 65535.');
  }
});

test('an option given several times keeps every value', () => {
  expect(each('b', each('a'))).toEqual(['a', 'b']);
});
