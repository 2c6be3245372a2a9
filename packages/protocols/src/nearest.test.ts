import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const FIELDS = ['request_id', 'callbackUrl', 'timestamp', 'is_final', 'params', 'to'];

describe('a slip is recognised', () => {
  test.each([
    ['request_di', 'request_id', 'two letters swapped'],
    ['requst_id', 'request_id', 'a letter left out'],
    ['reequest_id', 'request_id', 'a letter too many'],
    ['requezt_id', 'request_id', 'a letter changed'],
    ['requestId', 'request_id', 'another way to join words'],
    ['callback-url', 'callbackUrl', 'another way to join words'],
    ['CALLBACK_URL', 'callbackUrl', 'another case'],
    ['time stamp', 'timestamp', 'a space'],
    ['isFinal', 'is_final', 'another way to join words'],
    ['param', 'params', 'singular for plural'],
    ['ot', 'to', 'two letters swapped in a short word'],
  ])('%s means %s: %s', (word, expected) => {
    expect(nearest(word, FIELDS)).toBe(expected);
  });
});

describe('another word is not', () => {
  test.each([['colour'], ['x'], ['q'], [''], ['-'], ['identity'], ['from']])('%j is nothing here', (word) => {
    expect(nearest(word, FIELDS)).toBeUndefined();
  });

  test('of one letter, unless it differs in case alone', () => {
    expect(nearest('x', ['y'])).toBeUndefined();
    expect(nearest('', ['y'])).toBeUndefined();
    expect(nearest('Y', ['y'])).toBe('y');
  });

  test('where there is nothing to choose from', () => {
    expect(nearest('to', [])).toBeUndefined();
  });
});

test('of several the closest is taken, of equals the first', () => {
  expect(nearest('statsu', ['state', 'status'])).toBe('status');
  expect(nearest('bat', ['cat', 'hat'])).toBe('cat');
});

test('a word too long for a slip is not compared at all, nor is a candidate', () => {
  const long = 'a'.repeat(65);
  expect(nearest(long, [long])).toBeUndefined();
  expect(nearest('a'.repeat(60), [long, 'a'.repeat(61)])).toBe('a'.repeat(61));
});

test('whatever the word, the answer is a candidate or nothing, and a candidate is nearest to itself', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), (word, candidates) => {
      const found = nearest(word, candidates);
      if (found !== undefined) expect(candidates).toContain(found);
    }),
  );
  for (const field of FIELDS) expect(nearest(field, FIELDS)).toBe(field);
});
