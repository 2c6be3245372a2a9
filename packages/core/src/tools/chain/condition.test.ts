import { describe, expect, test } from 'vitest';
import { conditionOf } from './condition.ts';
import { checkExpression, evaluate, Unclear } from './expression.ts';
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

  test.each([
    ['$.list[0].x', 'has brackets', 'write $.list.0.x'],
    ['$.input["n"]', 'has brackets', 'write $.input.n'],
    ['$[0]', 'has brackets', 'write $.0'],
    ['$.list[*].x', 'write an index as a name, as in $.list.0', undefined],
    ['$.list.', 'has a dot without a name after it', undefined],
    ['$..x', 'has a dot without a name after it', undefined],
    ['$.n + 1', 'expressions are not computed', expect.stringContaining('compute it with a tool')],
    ['$.n ?? 0', 'expressions are not computed', expect.anything()],
    ['$.a == $.b', 'expressions are not computed', expect.anything()],
    ['$.s and $.t', 'expressions are not computed', expect.anything()],
  ])('%s is more than a path, and refused', (expression, words, fix) => {
    const error = thrown(() => checkExpression(expression));
    expect(error.message).toContain(words);
    expect(error.suggestions[0]).toEqual(fix);
  });

  test.each([
    '$',
    '$.a.b',
    '$.list.0',
    '$.row.First name',
    '$.row.Price (EUR)',
    '$.content-type',
    '$5 [net]',
    'a == b',
    ['$.list[0]'],
    7,
  ])('%j is a path, or a literal', (expression) => {
    expect(() => checkExpression(expression)).not.toThrow();
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
    expect(conditionOf(condition)(scope)).toBe(value);
  });

  test('an invalid condition is reported in words', () => {
    expect(() => conditionOf('$.n == three')).toThrow('a condition is one of them, or two with one of == != >= <= > <');
    expect(() => conditionOf('$.n ==')).toThrow('"" is neither a path');
    expect(() => conditionOf('constructor')).toThrow('"constructor" is neither a path');
  });

  const oneComparison = 'a condition is one comparison; put a branch behind a branch';
  const byATool = 'compute it with a tool, and compare the result';
  test.each([
    ['$.n = 3', 'write == for equal'],
    ['$.n === 3', 'write == for equal'],
    ['$.n is 3', 'write == for equal'],
    ['$.n <> 3', 'write != for not equal'],
    ['$.n !== 3', 'write != for not equal'],
    ['$.n => 3', 'write >= or <='],
    ['$.n and $.t', oneComparison],
    ['$.n or $.missing', oneComparison],
    ['$.n == 3 && $.t == true', oneComparison],
    ['!$.t', 'compare with == false, or == null'],
    ['not $.t', 'compare with == false, or == null'],
    ['$.n in [3]', byATool],
    ['$.s contains "a"', byATool],
    ['$.list[0].x == 1', 'write $.list.0.x'],
    ['$.n + 1 > 3', undefined],
    ['$.list.0?.x == 1', undefined],
    ['$.first name == 1', undefined],
  ])('%s is not false, but refused', (condition, fix) => {
    expect(thrown(() => conditionOf(condition)).suggestions[0]).toBe(fix);
  });

  test('a member named length is one; lists and texts have none', () => {
    const sized = new Scope({ list: [1], s: 'a', pipe: { length: 2 }, bare: {} });
    expect(conditionOf('$.pipe.length > 1')(sized)).toBe(true);
    expect(conditionOf('$.bare.length > 1')(sized)).toBe(false);
    for (const path of ['$.list', '$.s']) {
      const error = thrown(() => conditionOf(`${path}.length > 0`)(sized));
      expect(error.suggestions).toEqual([`write "${path}" alone: it is true unless it is empty`]);
    }
  });
});

function thrown(read: () => unknown): Unclear {
  try {
    read();
  } catch (error) {
    if (error instanceof Unclear) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
