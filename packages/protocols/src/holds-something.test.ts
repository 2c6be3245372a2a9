import { expect, test } from 'vitest';
import { holdsSomething, isEmpty } from './holds-something.ts';

test('nothing is held by null, false, an empty text, list or object, or what is not there', () => {
  for (const value of [undefined, null, false, '', [], {}])
    expect([value, holdsSomething(value)]).toEqual([value, false]);
  for (const value of [0, true, ' ', [null], { a: null }])
    expect([value, holdsSomething(value)]).toEqual([value, true]);
});

test('only null, and a list or object without members, are empty', () => {
  for (const value of [null, [], {}]) expect([value, isEmpty(value)]).toEqual([value, true]);
  for (const value of [undefined, false, '', 0, [null], { a: null }])
    expect([value, isEmpty(value)]).toEqual([value, false]);
});
