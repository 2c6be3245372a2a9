import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FrameRow } from '../store.ts';
import { type FramesRow, frameChecksumOf, packFrames, unpackFrames } from './frames.ts';

const rowsOf = (frames: readonly FrameRow[]): FramesRow[] =>
  packFrames(frames).map((row) => ({ ...row, checksum: frameChecksumOf(row) }));

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
        expect(rowsOf(frames).flatMap(unpackFrames)).toEqual(frames);
      }),
    );
  });

  test('take one row for what was added together', () => {
    const frames = [0, 1, 2].map((sequence) => ({ sequence, isFinal: sequence === 2, text: 'ab' }));
    expect(packFrames(frames)).toEqual([{ first: 0, count: 3, ends: 1, lengths: '2,2,2', text: 'ababab' }]);
  });

  test('take several rows when they are long, so that a part can be read alone', () => {
    const frames = Array.from({ length: 10 }, (_, sequence) => ({
      sequence,
      isFinal: false,
      text: 'x'.repeat(30_000),
    }));
    const rows = packFrames(frames);
    expect(rows.map(({ first, count }) => [first, count])).toEqual([
      [0, 3],
      [3, 3],
      [6, 3],
      [9, 1],
    ]);
  });

  test('that do not follow each other are refused', () => {
    const frame = (sequence: number, isFinal = false) => ({ sequence, isFinal, text: '{}' });
    expect(() => packFrames([frame(3), frame(5)])).toThrow('frame 5 where 4 was expected');
    expect(() => packFrames([frame(3, true), frame(4)])).toThrow('after the final one');
  });

  test('that were changed on the disk are refused', () => {
    const [row] = rowsOf([{ sequence: 0, isFinal: true, text: 'true' }]);
    expect(() => unpackFrames({ ...row, text: 'trve' } as never)).toThrow(
      expect.objectContaining({ code: 'store_damaged' }),
    );
    expect(() => unpackFrames({ ...row, ends: 0 } as never)).toThrow(
      expect.objectContaining({ code: 'store_damaged' }),
    );
  });
});
