import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { anyCharacter } from './any-character.contract.ts';
import { oneLineJson, quotedText } from './one-line-json.ts';

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

test('any value is read back unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      expect(JSON.parse(oneLineJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('a text by itself is written as any value is, half a character too', () => {
  const unit = fc.oneof(
    anyCharacter,
    fc.constantFrom('\uD800', '\uDFFF', '\u007F', '\u0080', '\u009F', '\u00A0', '\u2029'),
  );
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(quotedText(text)).toBe(oneLineJson(text));
    }),
  );
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code);
    if (quotedText(character) !== oneLineJson(character)) expect.fail(`U+${code.toString(16)}`);
  }
});
