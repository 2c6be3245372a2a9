import fc from 'fast-check';
import { expect, test } from 'vitest';
import { difference } from './difference.ts';
import type { Json } from './json.ts';

test('a missing value is named once, at its root', () => {
  expect(difference({ a: { b: 1, c: [1, 2] } }, {})).toEqual([{ pointer: '/a', after: undefined }]);
});

test('a changed value is named with its new value', () => {
  expect(difference({ a: { b: 1, c: 'x' } }, { a: { b: 2, c: 'x' } })).toEqual([{ pointer: '/a/b', after: 2 }]);
});

test('an array is compared item by item, and only what is gone is lost', () => {
  expect(difference([1, [2, 3]], [1, [2], 4])).toEqual([{ pointer: '/1/1', after: undefined }]);
});

test('null, empty text and empty containers hold nothing that could be lost', () => {
  expect(difference({ a: null, b: '', c: {}, d: [] }, {})).toEqual([]);
});

test('an inherited member does not count as kept', () => {
  expect(difference({ toString: 'x' }, {})).toEqual([{ pointer: '/toString', after: undefined }]);
});

test('a value differs in nothing from itself', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(difference(value as Json, value as Json)).toEqual([]);
    }),
  );
});
