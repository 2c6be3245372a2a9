import { hash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Cursors } from './cursor.ts';

const key = randomBytes(32);
const cursors = new Cursors(() => key);

test('a cursor leads its owner back, and nobody else anywhere', () => {
  for (const number of [0, 42, Number.MAX_SAFE_INTEGER]) {
    const cursor = cursors.make('ann', number);
    expect(cursors.numberIn(cursor, 'ann')).toBe(number);
    expect(cursors.numberIn(cursor, 'bob')).toBeUndefined();
  }
});

test('another server reads the cursor if it has the key, and not otherwise', () => {
  const cursor = cursors.make('ann', 42);
  expect(new Cursors(() => Buffer.from(key)).numberIn(cursor, 'ann')).toBe(42);
  expect(new Cursors(() => randomBytes(32)).numberIn(cursor, 'ann')).toBeUndefined();
});

test('a cursor does not tell how many executions there are', () => {
  const [first, last] = [cursors.make('ann', 7), cursors.make('ann', 7_000_000)];
  expect(last).toHaveLength(first.length);
  expect(Buffer.from(last, 'base64url').toString('latin1')).not.toContain('7000000');
  expect(cursors.make('ann', 7)).not.toBe(first);
});

test('what was not made here is no cursor, however well its maker knows how they are made', () => {
  const known = cursors.make('ann', 42);
  const bytes = Buffer.from(known, 'base64url');
  const flipped = [...bytes.keys()].map((at) => {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    return changed.toString('base64url');
  });
  const guessed = Buffer.from(`43.${hash('sha256', 'executions 43 ann', 'base64url').slice(0, 16)}`).toString(
    'base64url',
  );
  for (const odd of ['', '42', 'x', known.slice(4), `${known}AAAA`, guessed, ...flipped]) {
    expect(cursors.numberIn(odd, 'ann')).toBeUndefined();
  }
});
