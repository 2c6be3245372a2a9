import { describe, expect, test } from 'vitest';
import { holds } from './condition.ts';
import { evaluate } from './expression.ts';
import { Scope } from './scope.ts';

const context = { n: 3, s: 'a == b', t: true, none: null, list: [{ x: 1 }], empty: [], input: { n: 3 }, price: '$5' };
const scope = new Scope(context);

describe('expressions', () => {
  test.each([
    ['$', context],
    ['$.n', 3],
    ['$.input.n', 3],
    ['$.list.0.x', 1],
    ['$.list.1.x', null],
    ['$.list.length', null],
    ['$.constructor', null],
    ['$.__proto__.x', null],
    ['$.', null],
    ['$.list.', null],
    [`$${'.n'.repeat(1_000_000)}`, null],
    ['$5', '$5'],
    ['plain', 'plain'],
    [7, 7],
  ])('%j', (expression, value) => {
    expect(evaluate(expression, scope)).toEqual(value);
  });
});

describe('conditions', () => {
  test.each([
    ['', true],
    ['$.n == 3', true],
    ['$.n != 3', false],
    ['$.n >= 3', true],
    ['$.n <= 2', false],
    ['$.n > 2.5', true],
    ['$.n < -1e3', false],
    ["$.s == 'a == b'", true],
    ['$.s == "a == b"', true],
    ['$.t == true', true],
    ['$.none == null', true],
    ['$.missing == null', true],
    ['$.missing > 1', false],
    ['$.missing < 1', false],
    ['$.n == $.input.n', true],
    ["$.n == '3'", false],
    ['$.t', true],
    ['$.none', false],
    ['$.empty', false],
    ['$.list', true],
  ])('%s', (condition, value) => {
    expect(holds(condition, scope)).toBe(value);
  });

  test('what is none is told in words', () => {
    expect(() => holds('$.n == three', scope)).toThrow('a condition compares $.paths');
    expect(() => holds('$.n ==', scope)).toThrow('got ""');
    expect(() => holds('constructor', scope)).toThrow('got "constructor"');
  });
});
