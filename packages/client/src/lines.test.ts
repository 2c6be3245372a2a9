import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lines } from './lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('lines come when they are whole, blank ones too', () => {
  const lines = new Lines();
  expect(lines.push(bytes('one\n\ntw'))).toEqual(['one', '']);
  expect(lines.push(bytes('o'))).toEqual([]);
  expect(lines.push(bytes('\nthree'))).toEqual(['two']);
});

test('wherever the stream is cut, also within a character, the lines are the same', () => {
  const line = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n'));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat({ max: 400 })), (wanted, places) => {
      const whole = bytes(wanted.map((text) => `${text}\n`).join(''));
      const lines = new Lines();
      const cuts = [0, ...places.map((at) => Math.min(at, whole.length)).toSorted((a, b) => a - b), whole.length];
      expect(cuts.slice(1).flatMap((end, index) => lines.push(whole.subarray(cuts[index], end)))).toEqual(wanted);
    }),
  );
});

test('bytes that are not UTF-8 are an error, not replacement characters', () => {
  expect(() => new Lines().push(Uint8Array.of(0xff, 0x0a))).toThrow('not UTF-8');
});
