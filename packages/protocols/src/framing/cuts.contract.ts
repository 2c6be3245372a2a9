import fc from 'fast-check';
import { expect } from 'vitest';

/** Reads a stream that arrives in these chunks, and returns everything it produced. */
export type ReadChunks<T> = (chunks: readonly Uint8Array[]) => readonly T[];

/** Checks that a reader returns the same result wherever the stream is cut: at one place, at two, at every one. */
export function expectSameAtEveryCut<T>(bytes: Uint8Array, read: ReadChunks<T>, expected: readonly T[]): void {
  expect(read([bytes]), 'in one piece').toEqual(expected);
  expect(read(cutAt(bytes, [...bytes.keys()])), 'byte by byte').toEqual(expected);
  for (let first = 0; first <= bytes.length; first++) {
    expect(read(cutAt(bytes, [first])), `cut at ${first}`).toEqual(expected);
    for (const second of [first + 1, first + 2, first + 3]) {
      expect(read(cutAt(bytes, [first, second])), `cut at ${first} and ${second}`).toEqual(expected);
    }
  }
}

/** Checks that a reader returns the same result for generated streams, cut at generated places. */
export function expectSameAtAnyCut<T>(streams: fc.Arbitrary<Uint8Array>, read: ReadChunks<T>): void {
  const cut = streams.chain((bytes) =>
    fc.record({ bytes: fc.constant(bytes), places: fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }) }),
  );
  fc.assert(
    fc.property(cut, ({ bytes, places }) => {
      const whole = read([bytes]);
      const sorted = places.toSorted((a, b) => a - b);
      expect(read(cutAt(bytes, sorted))).toEqual(whole);
      expect(read(cutAt(bytes, [...bytes.keys()]))).toEqual(whole);
    }),
    { numRuns: 300 },
  );
}

/**
 * The chunks between the places. Each has its own memory, so that a reader which wrongly keeps one can be caught by
 * overwriting it.
 */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const starts = [0, ...places];
  return starts.map((start, index) => bytes.slice(start, starts[index + 1]));
}

/** The number of bytes copied while `run` runs: every copy in the framing uses `set`. */
export function countCopiedBytes(run: () => void): number {
  const original = Uint8Array.prototype.set;
  let copied = 0;
  Uint8Array.prototype.set = function set(source, offset) {
    copied += source.length;
    original.call(this, source, offset);
  };
  try {
    run();
  } finally {
    Uint8Array.prototype.set = original;
  }
  return copied;
}
