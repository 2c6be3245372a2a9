import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packFrames, unpackFrames } from './frames.ts';

describe('frames in rows', () => {
  test('come out as they went in, whatever their text and wherever they begin', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(texts, fc.nat(), fc.boolean(), (all, first, ends) => {
        const frames = all.map((text, index) => ({
          sequence: first + index,
          isFinal: ends && index === all.length - 1,
          text,
        }));
        expect([...packFrames(frames)].flatMap(unpackFrames)).toEqual(frames);
      }),
    );
  });

  test('take one row for what was added together', () => {
    const frames = [0, 1, 2].map((sequence) => ({ sequence, isFinal: sequence === 2, text: 'ab' }));
    expect([...packFrames(frames)]).toMatchObject([{ first: 0, count: 3, ends: 1, lengths: '2,2,2', text: 'ababab' }]);
  });

  test('take several rows when they are long, so that a part can be read alone', () => {
    const frames = Array.from({ length: 10 }, (_, sequence) => ({
      sequence,
      isFinal: false,
      text: 'x'.repeat(30_000),
    }));
    const rows = [...packFrames(frames)];
    expect(rows.map(({ first, count }) => [first, count])).toEqual([
      [0, 3],
      [3, 3],
      [6, 3],
      [9, 1],
    ]);
  });

  test('that were changed on the disk are refused', () => {
    const [row] = packFrames([{ sequence: 0, isFinal: true, text: 'true' }]);
    expect(() => unpackFrames({ ...row, text: 'trve' } as never)).toThrow(
      expect.objectContaining({ code: 'store_damaged' }),
    );
    expect(() => unpackFrames({ ...row, ends: 0 } as never)).toThrow(
      expect.objectContaining({ code: 'store_damaged' }),
    );
  });
});
