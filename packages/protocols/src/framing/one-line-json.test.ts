import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { anyCharacter } from './any-character.contract.ts';
import { oneLineJson } from './one-line-json.ts';

test('the text is compact', () => {
  expect(oneLineJson({ a: [1, { b: null }], c: 'd e' })).toBe('{"a":[1,{"b":null}],"c":"d e"}');
});

const BREAKS = ['\n', '\r', '\u000b', '\f', '\u001c', '\u001d', '\u001e', '\u0085', '\u2028', '\u2029'];

test.each(BREAKS)('%j, which some reader takes for a line break, is escaped in keys and in values', (character) => {
  const value = { [`a${character}`]: `${character}b` };
  const text = oneLineJson(value);
  expect(text).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(text)).toEqual(value);
});

test('any value comes back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      expect(JSON.parse(oneLineJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
