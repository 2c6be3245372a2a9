import { expect, test } from 'vitest';
import { cursorFor, numberIn } from './cursor.ts';

test('a cursor leads its owner back, and nobody else anywhere', () => {
  const cursor = cursorFor('ann', 42);
  expect(numberIn(cursor, 'ann')).toBe(42);
  expect(numberIn(cursor, 'bob')).toBeUndefined();
});

test('what was not made here is no cursor', () => {
  const changed = Buffer.from(Buffer.from(cursorFor('ann', 42), 'base64url').toString().replace('42', '43'));
  for (const odd of ['', '42', 'x', changed.toString('base64url'), cursorFor('ann', 42).slice(1)]) {
    expect(numberIn(odd, 'ann')).toBeUndefined();
  }
});
