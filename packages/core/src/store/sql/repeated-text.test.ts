import { expect, test } from 'vitest';
import { withRepeats } from './repeated-text.ts';

test('what an earlier version left out of a result is put back', () => {
  const rows = Array.from({ length: 60 }, (_, id) => JSON.stringify({ id, name: `row é ${id}` }));
  // As version 0.1 wrote it.
  const repeats =
    '_d1U1K0R2L0n2L0j3L0f4L0b5L0^6L0Z7L0V8L0R9L0n9L0j:L0f;L0b<L0^=L0Z>L0V?L0R@L0n@L0jAL0fBL0bCL0^DL0ZEL0VFL0RGL0nGL0jHL0f' +
    'IL0bJL0^KL0ZLL0VML0RNL0nNL0jOL0fP1L0bQ1L0^R1L0ZS1L0VT1L0RU1L0nU1L0jV1L0fW1L0bX1L0^Y1L0ZZ1L0V[1L0R\\1L0l\\1J0f]1J0`^1' +
    'J0Z_1J0T`1J0n`1J0ha1J0bb1J0\\c1J1Vd1I';
  const whole = `{"fetch":[${rows}],"sort":[${rows.toReversed()}]}`;
  expect(withRepeats(`{"fetch":[${rows}],"sort":[,]}`, repeats)).toBe(whole);
});

test('a text without repeats is itself', () => {
  expect(withRepeats('{"a":1}', '')).toBe('{"a":1}');
});
