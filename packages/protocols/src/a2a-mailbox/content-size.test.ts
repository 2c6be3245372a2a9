import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { excessiveSize } from './content-size.ts';

describe('the size of content', () => {
  test.each([
    ['a'.repeat(10_000), undefined],
    ['a'.repeat(10_001), { characters: 10_001, bytes: 10_001 }],
    ['é'.repeat(5120), undefined],
    ['é'.repeat(5121), { characters: 5121, bytes: 10_242 }],
    ['中'.repeat(3413), undefined],
    ['中'.repeat(3414), { characters: 3414, bytes: 10_242 }],
    ['😀'.repeat(2560), undefined],
    [`${'😀'.repeat(2560)}a`, { characters: 5121, bytes: 10_241 }],
  ])('a text counts unescaped', (text, excess) => {
    expect(excessiveSize(text)).toEqual(excess);
  });

  test('anything else counts as compact JSON', () => {
    const padded = (length: number): Json => ({ list: [1.5, true, null, {}, []], text: 'a'.repeat(length) });
    const frame = JSON.stringify(padded(0)).length;
    expect(excessiveSize(padded(10_000 - frame))).toBeUndefined();
    expect(excessiveSize(padded(10_001 - frame))).toEqual({ characters: 10_001, bytes: 10_001 });
  });

  test('equals that of JSON.stringify, whatever is escaped', () => {
    const content = fc.tuple(
      fc.jsonValue({ maxDepth: 4 }),
      fc.nat(12_000),
      fc.constantFrom('a', '"', '\u0001', 'é', '中'),
    );
    fc.assert(
      fc.property(content, ([value, count, filling]) => {
        const whole = [value, filling.repeat(count)] as Json;
        const text = JSON.stringify(whole);
        const size = { characters: text.length, bytes: Buffer.byteLength(text) };
        const expected = size.characters > 10_000 || size.bytes > 10_240 ? size : undefined;
        expect(excessiveSize(whole)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test('of content nested deeper than any stack is found all the same', () => {
    let deep: Json = 'x';
    for (let level = 0; level < 200_000; level++) deep = [deep];
    expect(excessiveSize(deep)).toEqual({ characters: 400_003, bytes: 400_003 });
  });
});
