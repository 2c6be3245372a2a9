import { failure } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { failureOf, Refused } from './refused.ts';

test('the failure of an error is known by what it has, whichever copy of the module made it', () => {
  const refused = new Refused(failure('forbidden'));
  expect(failureOf(refused)).toEqual(failure('forbidden'));
  expect(failureOf({ failure: { ...refused.failure } })).toEqual(failure('forbidden'));
});

test.each([
  ['a code alone', { code: 'forbidden' }],
  ['a code there is not', { ...failure('forbidden'), code: 'nonsense' }],
  ['the name of a member of every object', { ...failure('forbidden'), code: 'constructor' }],
  ['a text', 'forbidden'],
  ['nothing', null],
])('another object called failure is not a failure: %s', (_, given) => {
  expect(failureOf(Object.assign(new Error('x'), { failure: given }))).toBeUndefined();
});
