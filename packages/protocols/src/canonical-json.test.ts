import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { anyCharacter } from './framing/any-character.contract.ts';
import { type Json, parseJson } from './json.ts';

describe('numbers are written as ECMAScript writes them (RFC 8785 §3.2.2.3)', () => {
  test.each<[number, string]>([
    [0, '0'],
    [-0, '0'],
    [1, '1'],
    [-1, '-1'],
    [4.5, '4.5'],
    [2e-3, '0.002'],
    [1e-6, '0.000001'],
    [1e-7, '1e-7'],
    [1.5e-9, '1.5e-9'],
    [1e20, '100000000000000000000'],
    [1e21, '1e+21'],
    [123456789012345680000, '123456789012345680000'],
    [1e23, '1e+23'],
    [Number('333333333.33333329'), '333333333.3333333'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1 / 3, '0.3333333333333333'],
    [2 ** 53, '9007199254740992'],
    [-(2 ** 53), '-9007199254740992'],
    [2 ** 68, '295147905179352830000'],
    [5e-324, '5e-324'],
    [-5e-324, '-5e-324'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    [2.2250738585072014e-308, '2.2250738585072014e-308'],
  ])('%d as %s', (number, text) => {
    expect(canonicalJson(number)).toBe(text);
  });
});

describe('strings have no escape but the ones they need (RFC 8785 §3.2.2.2)', () => {
  test('the short escapes where there is one, lower-case \\u for the other control characters', () => {
    expect(canonicalJson('\b\t\n\f\r"\\\u0000\u000b\u001f')).toBe('"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u000b\\u001f"');
  });

  test('everything else stands for itself', () => {
    expect(canonicalJson('/\u007f\u0080é€\u2028\ufeff😀</script>')).toBe('"/\u007f\u0080é€\u2028\ufeff😀</script>"');
  });

  test('nothing is normalised: composed and decomposed stay apart', () => {
    expect(canonicalJson('\u00e9')).not.toBe(canonicalJson('e\u0301'));
  });
});

describe('keys stand in the order of their UTF-16 units (RFC 8785 §3.2.3)', () => {
  test('so a surrogate pair sorts before U+FB33, though its code point is higher', () => {
    const value = {
      '\ufb33': 1,
      '😀': 2,
      '€': 3,
      ö: 4,
      '\u0080': 5,
      '1': 6,
      '\r': 7,
      '': 8,
      a: 9,
      B: 10,
      aa: 11,
      '10': 12,
    };
    expect(Object.keys(JSON.parse(canonicalJson(value)) as object).filter((key) => !/^\d+$/.test(key))).toEqual([
      '',
      '\r',
      'B',
      'a',
      'aa',
      '\u0080',
      'ö',
      '€',
      '😀',
      '\ufb33',
    ]);
    expect(canonicalJson(value)).toBe(
      '{"":8,"\\r":7,"1":6,"10":12,"B":10,"a":9,"aa":11,"\u0080":5,"ö":4,"€":3,"😀":2,"\ufb33":1}',
    );
  });

  test('in every object, while arrays keep their order', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 3, null], a: { f: true, e: {} } })).toBe(
      '{"a":{"e":{},"f":true},"b":[{"c":2,"d":1},3,null]}',
    );
  });

  test('with the names every object has as members like any other', () => {
    const value = JSON.parse('{"toString":1,"__proto__":2,"toJSON":3,"constructor":{"length":0}}') as Json;
    expect(canonicalJson(value)).toBe('{"__proto__":2,"constructor":{"length":0},"toJSON":3,"toString":1}');
  });
});

describe('a value without a canonical form throws', () => {
  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['Infinity', { a: [Number.NEGATIVE_INFINITY] }],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a key', { a: { '\udc00x': 1 } }],
    ['nothing', undefined],
  ])('%s', (_, value) => {
    expect(() => canonicalJson(value as Json)).toThrow();
  });
});

describe('for any value', () => {
  const values = fc.jsonValue({ stringUnit: anyCharacter }) as fc.Arbitrary<Json>;

  test('the canonical text is one we accept, and its own canonical text', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = canonicalJson(value);
        const outcome = parseJson(text);
        if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
        expect(canonicalJson(outcome.value)).toBe(text);
      }),
    );
  });

  test('it is what the library makes of it, which takes twice as long', () => {
    const keys = fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('9', '10', '1a', '__proto__', 'toJSON'));
    const odd = fc.dictionary(
      keys,
      fc.oneof(fc.double(), fc.constantFrom('\\\\ud800', '\\ud', 'a'), values),
    ) as typeof values;
    fc.assert(
      fc.property(fc.oneof(values, odd), (value) => {
        expect(textOrError(() => canonicalJson(value))).toBe(textOrError(() => canonicalize(value)));
      }),
    );
  });

  test('the order keys were written in changes nothing', () => {
    fc.assert(
      fc.property(values, fc.func(fc.integer()), (value, rank) => {
        expect(canonicalJson(reordered(value, rank))).toBe(canonicalJson(value));
      }),
    );
  });

  test('white space and escapes in the source text change nothing', () => {
    fc.assert(
      fc.property(values, (value) => {
        const ascii = JSON.stringify(value, null, 3).replaceAll(/[\u0080-\uffff]/g, (unit) => {
          return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`;
        });
        const outcome = parseJson(ascii);
        if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
        expect(canonicalJson(outcome.value)).toBe(canonicalJson(value));
      }),
    );
  });
});

function textOrError(make: () => string | undefined): string {
  try {
    return make() ?? 'nothing';
  } catch {
    return 'refused';
  }
}

/** The value with the keys of every object in another order. */
function reordered(value: Json, rank: (key: string) => number): Json {
  if (Array.isArray(value)) return value.map((item) => reordered(item, rank));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, reordered(member, rank)] as const);
  return Object.fromEntries(members.toSorted(([a], [b]) => rank(a) - rank(b)));
}
