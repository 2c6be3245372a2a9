import { expect, test } from 'vitest';
import { countCopiedBytes } from './cuts.contract.ts';
import { GrowingBytes } from './growing-bytes.ts';

test('the pieces come back as one, in order', () => {
  const bytes = new GrowingBytes(1000);
  bytes.append(Uint8Array.of(1, 2));
  bytes.append(new Uint8Array(0));
  bytes.append(Uint8Array.of(3));
  expect(bytes.length).toBe(3);
  expect([...bytes.take()]).toEqual([1, 2, 3]);
});

test('taken bytes are not overwritten by later ones', () => {
  const bytes = new GrowingBytes(1000);
  bytes.append(Uint8Array.of(1, 2, 3));
  const taken = bytes.take();
  bytes.append(Uint8Array.of(9, 9, 9));
  expect([...taken]).toEqual([1, 2, 3]);
  expect([...bytes.take()]).toEqual([9, 9, 9]);
});

test('it copies, so a piece may be used again at once', () => {
  const bytes = new GrowingBytes(1000);
  const piece = Uint8Array.of(1, 2, 3);
  bytes.append(piece);
  piece.fill(0);
  expect([...bytes.take()]).toEqual([1, 2, 3]);
});

test('its room is never more than it may hold, and none when it is empty', () => {
  const bytes = new GrowingBytes(700);
  expect(bytes.capacity).toBe(0);
  for (let count = 0; count < 700; count++) {
    bytes.append(Uint8Array.of(count));
    expect(bytes.capacity).toBeLessThanOrEqual(700);
  }
  bytes.clear();
  expect([bytes.length, bytes.capacity]).toEqual([0, 0]);
});

test('one byte too many is our own mistake, so it throws', () => {
  const bytes = new GrowingBytes(3);
  bytes.append(Uint8Array.of(1, 2, 3));
  expect(() => bytes.append(Uint8Array.of(4))).toThrow('4 bytes do not fit into 3');
});

test('a byte is moved fewer than three times on average, however small the pieces', () => {
  const bytes = new GrowingBytes(1 << 20);
  const piece = Uint8Array.of(7);
  const copied = countCopiedBytes(() => {
    for (let count = 0; count < 1 << 20; count++) bytes.append(piece);
  });
  expect(bytes.length).toBe(1 << 20);
  expect(copied).toBeLessThan(3 * (1 << 20));
});
