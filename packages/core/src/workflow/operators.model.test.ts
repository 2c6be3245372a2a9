import type { Json, JsonObject } from '@dragoman/protocols';
import { parsePath } from '@dragoman/protocols/a2e-workflow';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deepEqual, identity } from '../json/equality.ts';
import { compileTest } from './condition.ts';
import { itemTest, sieved } from './item-test.ts';
import type { Compiling, Operation, StepContext } from './operation.ts';
import { mergeData } from './operations/merge-data.ts';
import { transformData } from './operations/transform-data.ts';

// A second, slow and plain account of what the operators mean, written from the specification and not from the code: every
// operation is compared with it on values of every kind.

const scalar = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1.5, '', 'a', 'b', 'ab', 'A', '1', '__proto__', 'toString'),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const row = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'length', 'toString', 'a.b'), json, {
  maxKeys: 4,
  noNullPrototype: true,
});
const items = fc.array(fc.oneof({ weight: 6, arbitrary: row }, json), { maxLength: 12 });
const field = fc.constantFrom('a', 'b', 'a.b', 'length', 'toString', 'c.a');

describe('conditions agree with the model', () => {
  test.each(['==', '!=', '>', '<', '>=', '<=', 'in', 'contains', 'startsWith', 'endsWith', 'exists', 'empty'])(
    '%s, on every kind of value',
    (operator) => {
      fc.assert(
        fc.property(items, field, json, (list, name, right) => {
          const test = compileTest(operator, right);
          if (test === undefined) return expect.unreachable();
          const kept = sieved(list, [itemTest(name, operator, right, test)]);
          expect(kept).toEqual(list.filter((item) => isMembers(item) && holds(operator, fieldOf(item, name), right)));
        }),
        { numRuns: 300 },
      );
    },
  );

  test('several conditions are all met', () => {
    fc.assert(
      fc.property(
        items,
        fc.array(fc.tuple(field, fc.constantFrom('==', '!=', '>', 'exists'), json), { minLength: 1, maxLength: 4 }),
        (list, conditions) => {
          const tests = conditions.map(([name, operator, right]) =>
            itemTest(name, operator, right, compileTest(operator, right) ?? (() => false)),
          );
          const expected = list.filter(
            (item) =>
              isMembers(item) &&
              conditions.every(([name, operator, right]) => holds(operator, fieldOf(item, name), right)),
          );
          expect(sieved(list, tests)).toEqual(expected);
        },
      ),
    );
  });

  test('equal values have one identity, and others another', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(deepEqual(one, other)).toBe(same(one, other));
        expect(identity(one) === identity(other)).toBe(same(one, other));
        expect(deepEqual(one, shuffled(one))).toBe(true);
        expect(identity(one)).toBe(identity(shuffled(one)));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('transformations agree with the model', () => {
  test('sort, by one key and by two, few and many', () => {
    const order = fc.constantFrom('asc', 'desc');
    fc.assert(
      fc.property(items, fc.constantFrom(1, 300), order, order, (list, times, first, second) => {
        const many = Array.from({ length: times }, () => list).flat();
        const config = { fields: { a: first, b: second } };
        const expected = [...many].sort(
          (one, other) => byKey(one, other, 'a', first) || byKey(one, other, 'b', second),
        );
        expect(transformed('sort', many, config)).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  test('numbers of every size, as many as are sorted by their digits', () => {
    const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 2100, maxLength: 2300 });
    fc.assert(
      fc.property(numbers, fc.constantFrom('asc', 'desc'), (list, order) => {
        const rows = list.map((a, at) => ({ a, at }));
        const expected = [...rows].sort((one, other) => (order === 'asc' ? one.a - other.a : other.a - one.a));
        expect(transformed('sort', rows, { field: 'a', order })).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  test('group', () => {
    fc.assert(
      fc.property(items, field, (list, name) => {
        const expected = new Map<string, Json[]>();
        for (const item of list) {
          const value = fieldOf(item, name);
          const key = value === undefined ? 'unknown' : typeof value === 'string' ? value : JSON.stringify(value);
          expected.set(key, [...(expected.get(key) ?? []), item]);
        }
        expect(transformed('group', list, { field: name })).toEqual(Object.fromEntries(expected));
      }),
    );
  });

  test('aggregate', () => {
    fc.assert(
      fc.property(items, field, (list, name) => {
        const values = list.map((item) => fieldOf(item, name)).filter((value) => value !== undefined && value !== null);
        const numbers = values.filter((value) => typeof value === 'number');
        const texts = values.filter((value) => typeof value === 'string').sort();
        const sum = numbers.reduce((total, value) => total + value, 0);
        const operations = ['count', 'sum', 'avg', 'min', 'max'].map((operation) => ({
          operation,
          field: name,
          as: operation,
        }));
        expect(transformed('aggregate', list, { operations })).toEqual({
          count: values.length,
          sum,
          avg: numbers.length === 0 ? 0 : sum / numbers.length,
          min: numbers.length > 0 ? Math.min(...numbers) : (texts[0] ?? null),
          max: numbers.length > 0 ? Math.max(...numbers) : (texts.at(-1) ?? null),
        });
      }),
    );
  });

  test('merges, and no source is changed by one', () => {
    const lists = fc.array(fc.array(json, { maxLength: 5 }), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(lists, (sources) => {
        const before = JSON.stringify(sources);
        const once = (list: readonly Json[]) =>
          list.filter((item, at) => list.findIndex((other) => same(item, other)) === at);
        expect(merged('concat', sources)).toEqual(sources.flat());
        expect(merged('union', sources)).toEqual(once(sources.flat()));
        const [first = [], ...others] = sources;
        const inAll = first.filter((item) => others.every((list) => list.some((other) => same(item, other))));
        expect(merged('intersect', sources)).toEqual(once(inAll));
        merged('deepMerge', sources);
        expect(JSON.stringify(sources)).toBe(before);
      }),
      { numRuns: 300 },
    );
  });
});

// The model.

function holds(operator: string, left: Json | undefined, right: Json): boolean {
  const there = left !== undefined;
  if (operator === '==') return there && same(left, right);
  if (operator === '!=') return !(there && same(left, right));
  if (operator === 'exists') return there && left !== null;
  if (operator === 'empty')
    return !there || left === null || left === '' || JSON.stringify(left) === '[]' || JSON.stringify(left) === '{}';
  if (operator === 'in') return there && Array.isArray(right) && right.some((item) => same(item, left));
  if (operator === 'contains' && Array.isArray(left)) return left.some((item) => same(item, right));
  if (typeof left === 'string' && typeof right === 'string') {
    if (operator === 'contains') return right === '' || left.split(right).length > 1;
    if (operator === 'startsWith') return left.slice(0, right.length) === right;
    if (operator === 'endsWith') return right === '' || left.slice(-right.length) === right;
    return compares(operator, left < right ? -1 : left === right ? 0 : 1);
  }
  if (typeof left === 'number' && typeof right === 'number') return compares(operator, Math.sign(left - right));
  return false;
}

function compares(operator: string, order: number): boolean {
  if (operator === '>') return order > 0;
  if (operator === '<') return order < 0;
  if (operator === '>=') return order >= 0;
  return operator === '<=' && order <= 0;
}

function same(one: Json, other: Json): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}

function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  );
}

/** A field as one key, else step by step. */
function fieldOf(item: Json, name: string): Json | undefined {
  const own = (value: Json | undefined, key: string) =>
    typeof value === 'object' && value !== null && !(Array.isArray(value) && key === 'length')
      ? Object.entries(value).find(([each]) => each === key)?.[1]
      : undefined;
  // Null is there, and is what it is.
  const literal = own(item, name);
  return literal !== undefined ? literal : name.split('.').reduce<Json | undefined>(own, item);
}

function byKey(one: Json, other: Json, name: string, order: string): number {
  const kinds = ['number', 'string', 'boolean', 'object'];
  const [a = null, b = null] = [fieldOf(one, name), fieldOf(other, name)];
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const sign = order === 'desc' ? -1 : 1;
  if (typeof a !== typeof b) return sign * (kinds.indexOf(typeof a) - kinds.indexOf(typeof b));
  if (typeof a === 'object') return 0;
  return sign * (a < b ? -1 : a > b ? 1 : 0);
}

function isMembers(item: Json): boolean {
  return typeof item === 'object' && item !== null;
}

// One operation without an execution around it.

function transformed(transform: string, input: Json[], config: object): Json {
  return worked(
    transformData as Operation,
    { inputPath: '/workflow/in', transform, config, outputPath: '/workflow/out' },
    { in: input },
  );
}

function merged(strategy: string, sources: readonly Json[][]): Json {
  const paths = sources.map((_, at) => `/workflow/s${at}`);
  const data = Object.fromEntries(sources.map((source, at) => [`s${at}`, source]));
  return worked(mergeData as Operation, { sources: paths, strategy, outputPath: '/workflow/out' }, data);
}

function worked(operation: Operation, config: object, data: JsonObject): Json {
  const compiling: Compiling = {
    path: (text) => {
      const parsed = parsePath(text);
      if (!parsed.ok) throw new Error(text);
      return parsed.path;
    },
    problem: (pointer, message) => expect.unreachable(`${pointer} ${message}`),
  };
  const step = {
    read: ({ keys }: { keys: readonly string[] }) => data[keys[1] ?? ''],
    bytesAt: () => 0,
    boundedBy: () => {},
    askMemory: () => {},
    account: { reserve: () => {} },
  } as unknown as StepContext;
  return operation.compile(config as never, compiling)(step) as Json;
}
