import { expect, test } from 'vitest';
import { cutTo } from './cut-to.ts';

test('a text that fits is unchanged', () => {
  expect(cutTo('four', 4)).toBe('four');
});

test('a text that is too long ends with a whole character', () => {
  expect(cutTo('ab😀', 3)).toBe('ab');
  expect(cutTo('ab😀c', 4)).toBe('ab😀');
});
