import { expect, test } from 'vitest';
import { wrap } from './wrap.ts';

test('a line that fits is unchanged', () => {
  expect(wrap('one\ntwo', 10)).toEqual(['one', 'two']);
});

test('a longer one is broken after a space or a comma', () => {
  expect(wrap('{"a":1,"b":[1,2],"c":"three words here"}', 18)).toEqual([
    '{"a":1,"b":[1,2],',
    '"c":"three words',
    'here"}',
  ]);
});

test('a word that is longer than a line is broken, but no character is', () => {
  expect(wrap('a,bcdefghijk', 6)).toEqual(['a,bcde', 'fghijk']);
  expect(wrap('abc😀def', 4)).toEqual(['abc', '😀de', 'f']);
});
