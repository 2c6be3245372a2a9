import { expect, test } from 'vitest';
import { SLICE, textInTurns } from './text-in-turns.ts';

test.each([0, 1, 2, 3, 4])('is the text that was encoded, wherever it is cut: moved by %i', async (moved) => {
  const text = `${'x'.repeat(moved)}${'a\uFEFFé€😀'.repeat(3 * (SLICE / 12))}`;
  expect(await textInTurns(new TextEncoder().encode(text))).toBe(text);
  expect(await textInTurns(new TextEncoder().encode(text).subarray(moved))).toBe(text.slice(moved));
});

test('lets others have their turn, unless it is short', async () => {
  let turns = 0;
  const count = setInterval(() => turns++, 0);
  const immediate = () => turns++;
  setImmediate(immediate);
  expect(await textInTurns(new Uint8Array(0))).toBe('');
  expect(await textInTurns(new TextEncoder().encode('short'))).toBe('short');
  expect(turns).toBe(0);
  await textInTurns(new Uint8Array(4 * SLICE).fill(97));
  clearInterval(count);
  expect(turns).toBeGreaterThan(0);
});
