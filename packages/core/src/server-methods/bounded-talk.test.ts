import type { Json } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { BoundedTalk } from './bounded-talk.ts';

test('values are shown whole while there is room, and then by their beginning', () => {
  const talk = new BoundedTalk({ whole: 100, least: 10 });
  const short = { text: 'x'.repeat(50), 'a number': 7, none: null };
  expect(talk.bounded(short)).toBe(short);
  expect(talk.bounded('y'.repeat(50))).toBe(`${'y'.repeat(14)}…`);
  expect(talk.bounded('z'.repeat(50))).toBe(`${'z'.repeat(10)}…`);
  expect(talk.bounded('whole')).toBe('whole');
});

test.each<[string, Json, Json]>([
  ['a text in an object', { content: 'x'.repeat(90), after: 1 }, { content: `${'x'.repeat(25)}…` }],
  ['an array', Array(90).fill(1), Array(9).fill(1)],
  ['an array in an array', [Array(90).fill('12'), 'after'], [Array(16).fill('12')]],
  [
    'an object of many',
    Object.fromEntries(Array.from({ length: 90 }, (_, at) => [at, at])),
    { 0: 0, 1: 1, 2: 2, 3: 3 },
  ],
  ['a long name', { a: 1, ['x'.repeat(90)]: 2, b: 3 }, { a: 1 }],
  ['half a character', `${'x'.repeat(39)}😀${'x'.repeat(39)}`, `${'x'.repeat(39)}…`],
  [
    'a name with a meaning',
    JSON.parse(`{"__proto__":"${'x'.repeat(90)}"}`),
    JSON.parse(`{"__proto__":"${'x'.repeat(23)}…"}`),
  ],
])('what is cut is %s', (_, value, expected) => {
  expect(new BoundedTalk({ whole: 0, least: 40 }).bounded(value)).toEqual(expected);
});
