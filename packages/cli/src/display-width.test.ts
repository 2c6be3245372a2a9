import { expect, test } from 'vitest';
import { displayWidth, fitting } from './display-width.ts';

test('wide characters take two columns, and combining ones none', () => {
  expect(['abc', '日本', 'é', 'e\u0301', '🚀', 'Grüße', ''].map(displayWidth)).toEqual([3, 4, 1, 1, 2, 5, 0]);
});

test('a text is filled up or cut to the width it is given', () => {
  expect(fitting('ab', 4)).toBe('ab  ');
  expect(fitting('abcdef', 4)).toBe('abc…');
  expect(fitting('日本語', 4)).toBe('日… ');
});
