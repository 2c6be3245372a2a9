import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import * as repairs from './repair.ts';

describe('epoch seconds', () => {
  test.each<[Json, string | undefined]>([
    [0, '1970-01-01T00:00:00.000Z'],
    [1774524781.15, '2026-03-26T11:33:01.150Z'],
    [-1, '1969-12-31T23:59:59.000Z'],
    [0.0004, '1970-01-01T00:00:00.000Z'],
    [253402300799.999, '9999-12-31T23:59:59.999Z'],
    [253402300800, undefined],
    [-62167219201, undefined],
    [1e300, undefined],
    ['0', undefined],
    [true, undefined],
    [null, undefined],
  ])('%j is %s', (value, expected) => {
    expect(repairs.epochSeconds(value, false)?.value).toBe(expected);
  });
});

describe('a lenient reader', () => {
  test.each<[Json, Json | undefined]>([
    ['2026-03-28T12:00:00', '2026-03-28T12:00:00Z'],
    [' 2026-03-28 12:00:00.5 ', '2026-03-28T12:00:00.5Z'],
    ['soon', undefined],
  ])('takes the time %j as %j', (value, expected) => {
    expect(repairs.looseTimestamp(value, true)).toMatchObject({ value: expected });
    expect(repairs.looseTimestamp(value, false)).toBeUndefined();
  });

  test('leaves a good time alone', () => {
    expect(repairs.looseTimestamp('2026-03-28T12:00:00+02:00', true)).toBeUndefined();
  });

  test.each<[Json, Json | undefined]>([
    ['12', 12],
    ['-1', undefined],
    [1.5, undefined],
    [-2, undefined],
    [{}, undefined],
  ])('takes the sequence %j as %j', (value, expected) => {
    expect(repairs.looseSequence(value, true)).toMatchObject({ value: expected });
    expect(repairs.looseSequence(value, false)).toBeUndefined();
  });

  test('takes a whole number for an id, and no other', () => {
    expect(repairs.numberAsText(17, true)?.value).toBe('17');
    for (const value of [1.5, 2 ** 60, true, [], {}]) expect(repairs.numberAsText(value, true)).toBeUndefined();
    expect(repairs.numberAsText(17, false)).toBeUndefined();
  });
});

describe('any reader', () => {
  test('takes blank text for no id', () => {
    expect(repairs.trimmedText('  ', false)?.value).toBeNull();
    expect(repairs.trimmedText(' a b ', false)?.value).toBe('a b');
    expect(repairs.trimmedText('a b', false)).toBeUndefined();
  });

  test('leaves members out that are null and cannot be', () => {
    const repair = repairs.withoutNulls('details');
    expect(repair({ details: null, converter: null }, false)?.value).toEqual({ converter: null });
    expect(repair({ converter: null }, false)).toBeUndefined();
    expect(repair(null, false)).toBeUndefined();
  });
});
