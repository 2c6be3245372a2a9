import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MANY, type Places } from './radix.ts';
import { sortedTexts } from './sorted-texts.ts';

/** As a person would do it. */
function plainly(texts: readonly string[], descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  const places = texts.map((_, at) => at);
  return places.sort((one, other) => {
    const [a, b] = [texts[one] as string, texts[other] as string];
    return a < b ? -sign : a > b ? sign : 0;
  });
}

function inPlaces(texts: readonly string[]): Places {
  return Uint32Array.from(texts, (_, at) => at);
}

function expectSorted(texts: readonly string[]): void {
  for (const descending of [false, true]) {
    expect([...sortedTexts(texts, inPlaces(texts), descending)]).toEqual(plainly(texts, descending));
  }
}

const unit = fc.constantFrom('a', 'b', 'z', '\0', 'ÿ', 'Ā', '€', '\uffff', '😀', '\ud800');

describe('many texts are sorted as by comparing', () => {
  test('whatever is in them, however long they are alike', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit, maxLength: 20 }), { minLength: 2, maxLength: 40 }),
        fc.constantFrom('', 'shared-', 'x'.repeat(30)),
        fc.nat(),
        (some, beginning, turn) => {
          const texts = Array.from({ length: MANY + 50 }, (_, at) => {
            const text = some[(at * (turn | 1)) % some.length] as string;
            return at % 7 === 0 ? text : `${beginning}${text}`;
          });
          expectSorted(texts);
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each([
    ['all the same', () => 'same'],
    ['few different ones', (at: number) => ['Oslo', 'Lima', 'Quito'][at % 3] as string],
    ['numbered', (at: number) => `user-${(at * 7919) % 5000}`],
    ['alike for long', (at: number) => `${'https://example.com/'.repeat(5)}${at % 3}/${(at * 31) % 4000}`],
    ['ended or with U+0000', (at: number) => `a${'\0'.repeat(at % 12)}`],
    ['empty or not', (at: number) => (at % 2 === 0 ? '' : String(at))],
  ])('%s', (_, textAt) => {
    expectSorted(Array.from({ length: 3 * MANY }, (_none, at) => textAt(at)));
  });
});
