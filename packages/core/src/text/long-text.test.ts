import { expect, test } from 'vitest';
import { lengthOf, longBetween, SLICE, slicesOf, stringOf } from './long-text.ts';

const encoded = (text: string) => new TextEncoder().encode(text);

test.each([0, 1, 2, 3, 4])('is the text that was encoded, wherever it is cut: moved by %i', async (moved) => {
  const text = `${'x'.repeat(moved)}${'a\uFEFFé€😀'.repeat(3 * (SLICE / 12))}`;
  expect(await stringOf(longBetween('', encoded(text), ''))).toBe(text);
  expect(await stringOf(longBetween('<é', encoded(text).subarray(moved), 'é>'))).toBe(`<é${text.slice(moved)}é>`);
});

test('lets others have their turn while it becomes a string, and a string is one already', async () => {
  let turns = 0;
  const count = setInterval(() => turns++, 0);
  setImmediate(() => turns++);
  expect(await stringOf('short')).toBe('short');
  expect(turns).toBe(0);
  await stringOf(longBetween('', new Uint8Array(4 * SLICE).fill(97), ''));
  clearInterval(count);
  expect(turns).toBeGreaterThan(0);
});

test('is given out in slices that have no copy of it, and as long together as it is', async () => {
  const bytes = new Uint8Array(2 * SLICE + 3).fill(97);
  const long = longBetween('[', bytes, ']');
  const slices: Uint8Array[] = [];
  for await (const slice of slicesOf(long)) slices.push(slice);
  expect(slices.map(({ byteLength }) => byteLength)).toEqual([1, SLICE, SLICE, 3, 1]);
  expect(slices.slice(1, 4).every(({ buffer }) => buffer === bytes.buffer)).toBe(true);
  expect(lengthOf(long)).toBe(2 * SLICE + 5);
});
