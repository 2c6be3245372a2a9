import { type Json, type JsonSchema, type Validator, valueAt } from '@dragoman/protocols';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSchema } from './compile-schema.ts';

const isValid = (schema: JsonSchema, value: Json): boolean => compileSchema(schema).first(value);

function errorsOf(schema: JsonSchema, value: Json): { pointer: string; keyword: string; params: object }[] {
  const { all } = compileSchema(schema);
  all(value);
  return (all.errors ?? []).map(({ instancePath, keyword, params }) => ({ pointer: instancePath, keyword, params }));
}

describe('agrees with Ajv about', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const value = fc.letrec<{ any: Json }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Json>(null, true, false, 0, 1, 2, 3, 2.5, -1, 'a', 'ab', 'abc', '', '\u{1f600}'),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.array(fc.tuple(name, tie('any')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries) as Json),
    ),
  })).any;
  const count = fc.integer({ min: 0, max: 3 });
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null');
  const optional = (keywords: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(keywords, { requiredKeys: [] }).map((schema) => ({ ...schema }) as JsonSchema);
  const schemas = (newer: boolean) =>
    fc.letrec<{ any: JsonSchema | boolean; object: JsonSchema }>((tie) => {
      const some = fc.array(tie('any'), { minLength: 1, maxLength: 3 });
      const members = fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('any'), { maxKeys: 2 });
      const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'd'), { maxLength: 2 });
      const ref = fc.constantFrom('#/definitions/one', '#/definitions/two');
      return {
        any: fc.oneof({ depthSize: 'small' }, fc.boolean(), tie('object')),
        object: fc.oneof(
          optional({ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })) }),
          optional({
            enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, comparator: 'SameValueZero' }),
            const: value,
          }),
          optional({ minimum: count, maximum: count, exclusiveMinimum: count, exclusiveMaximum: count }),
          optional({ minLength: count, maxLength: count, pattern: fc.constantFrom('a', '^a', 'b$', '^.{2}$') }),
          optional({ minItems: count, maxItems: count, uniqueItems: fc.boolean(), contains: tie('any') }),
          optional({ minProperties: count, maxProperties: count, required: names, propertyNames: tie('any') }),
          optional({
            properties: members,
            patternProperties: fc.dictionary(fc.constantFrom('a', '^b', 'c|d'), tie('any'), { maxKeys: 2 }),
            additionalProperties: tie('any'),
          }),
          optional({ allOf: some, anyOf: some, oneOf: some, not: tie('any'), $ref: ref }),
          // biome-ignore lint/suspicious/noThenProperty: it is a keyword
          optional({ if: tie('any'), then: tie('any'), else: tie('any') }),
          newer
            ? optional({ prefixItems: some, items: tie('any') })
            : optional({ items: fc.oneof(some, tie('any')), additionalItems: tie('any') }),
          newer
            ? optional({
                dependentSchemas: members,
                dependentRequired: fc.dictionary(fc.constantFrom('a', 'b'), names),
              })
            : optional({ dependencies: fc.oneof(members, fc.dictionary(fc.constantFrom('a', 'b'), names)) }),
        ),
      };
    }).object;

  test.each([
    ['draft 7', Ajv, schemas(false), 'http://json-schema.org/draft-07/schema#'],
    ['draft 2020-12', Ajv2020, schemas(true), 'https://json-schema.org/draft/2020-12/schema'],
  ])('any value and any schema of %s', (_, Reference, schema, $schema) => {
    const leaf = optional({ type, minimum: count, required: fc.constant(['a']) });
    fc.assert(
      fc.property(schema, leaf, leaf, fc.array(value, { minLength: 1, maxLength: 8 }), (root, one, two, values) => {
        const whole = { ...root, $schema, definitions: { one, two } };
        const ajv = new Reference({
          strict: false,
          ownProperties: true,
          validateFormats: false,
          validateSchema: false,
          meta: false,
        });
        const reference = ajv.compile(whole) as Validator;
        const { first, all } = compileSchema(whole);
        for (const value of values) {
          const expected = reference(value);
          expect(first(value)).toBe(expected);
          expect(all(value)).toBe(expected);
          // Every problem is about something that is there.
          for (const { instancePath } of all.errors ?? []) expect(valueAt(value, instancePath)).toBeDefined();
        }
      }),
      { numRuns: 200 },
    );
  });
});

/** Ajv counts members of failed or unused branches as evaluated (against JSON Schema 2020-12, 11), so it is not a reference here. */
describe('members and items that no other keyword has looked at', () => {
  const named = (name: string, more: object = {}) => ({ properties: { [name]: true }, required: [name], ...more });
  test.each<[string, JsonSchema, Json, Json]>([
    ['beside members', { ...named('a'), unevaluatedProperties: false }, { a: 1 }, { a: 1, b: 1 }],
    [
      'of every branch that fits',
      { anyOf: [named('a'), named('b')], unevaluatedProperties: false },
      { a: 1, b: 1 },
      { a: 1, c: 1 },
    ],
    [
      'not of a branch that fails',
      { anyOf: [named('a', { maxProperties: 1 }), true], unevaluatedProperties: false },
      { a: 1 },
      { a: 1, b: 1 },
    ],
    ['of a condition that holds', { if: named('a'), unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
    ['not below not', { not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, {}, { a: 1 }],
    [
      'behind a reference',
      { $ref: '#/$defs/a', $defs: { a: named('a') }, unevaluatedProperties: { type: 'string' } },
      { a: 1, b: 'x' },
      { a: 1, b: 1 },
    ],
    [
      'not of another value',
      { properties: { a: named('b') }, unevaluatedProperties: false },
      { a: { b: 1 } },
      { a: { b: 1 }, b: 1 },
    ],
    ['after a prefix', { prefixItems: [true], unevaluatedItems: false }, [1], [1, 2]],
    [
      'after the longest prefix',
      { allOf: [{ prefixItems: [true] }, { prefixItems: [true, true] }], unevaluatedItems: false },
      [1, 2],
      [1, 2, 3],
    ],
    [
      'beside what a list contains',
      { contains: { type: 'string' }, unevaluatedItems: { type: 'number' } },
      ['x', 1],
      ['x', null],
    ],
    [
      'where a branch not taken has looked',
      { if: true, else: { prefixItems: [true] }, unevaluatedItems: false },
      [],
      [1],
    ],
  ])('are found %s', (_, schema, good, bad) => {
    expect([isValid(schema, good), isValid(schema, bad)]).toEqual([true, false]);
  });
});

describe('a problem is reported by', () => {
  test.each<[string, JsonSchema, Json, object[]]>([
    [
      'its member',
      { required: ['a', 'b'] },
      { a: 1 },
      [{ pointer: '', keyword: 'required', params: { missingProperty: 'b' } }],
    ],
    [
      'its place',
      { properties: { 'a/b': { items: { type: 'string' } } } },
      { 'a/b': ['x', 1, 2] },
      [
        { pointer: '/a~1b/1', keyword: 'type', params: { type: 'string' } },
        { pointer: '/a~1b/2', keyword: 'type', params: { type: 'string' } },
      ],
    ],
    [
      'what may stand there',
      { enum: [1, 2] },
      3,
      [{ pointer: '', keyword: 'enum', params: { allowedValues: [1, 2] } }],
    ],
    [
      'a member too many',
      { unevaluatedProperties: false },
      { a: 1 },
      [{ pointer: '', keyword: 'additionalProperties', params: { additionalProperty: 'a' } }],
    ],
  ])('%s', (_, schema, value, errors) => {
    expect(errorsOf(schema, value)).toEqual(errors);
  });

  test('its first hundred, where there are more', () => {
    expect(errorsOf({ items: { type: 'string' } }, Array(1_000).fill(1))).toHaveLength(100);
  });
});

describe('references', () => {
  const tree: JsonSchema = {
    $id: 'https://example.com/tree',
    type: 'object',
    properties: { child: { $ref: '#' }, leaf: { $ref: 'leaf' }, named: { $ref: '#word' } },
    additionalProperties: false,
    $defs: { leaf: { $id: 'leaf', type: 'number' }, word: { $anchor: 'word', type: 'string' } },
  };

  test.each<[string, JsonSchema, Json, Json]>([
    ['lead to the schema itself', tree, { child: { child: {} } }, { child: { child: 1 } }],
    ['lead to an $id', tree, { leaf: 1 }, { leaf: 'x' }],
    ['lead to an anchor', tree, { named: 'x' }, { named: 1 }],
    [
      'lead to the whole by its $id',
      { ...tree, properties: { child: { $ref: 'https://example.com/tree' } } },
      { child: {} },
      { child: 1 },
    ],
    [
      'lead to a part by an escaped pointer',
      { $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': { type: 'string' } } },
      'x',
      1,
    ],
    [
      'lead to a part by draft 4',
      {
        id: 'http://example.com/x',
        items: { $ref: 'http://example.com/x#/definitions/n' },
        definitions: { n: { minimum: 1, exclusiveMinimum: true } },
      },
      [2],
      [1],
    ],
    [
      'lead to a dynamic anchor',
      { $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } }, type: 'object' },
      { next: {} },
      { next: 1 },
    ],
    [
      'lead to the whole by draft 2019-09',
      { $recursiveAnchor: true, properties: { next: { $recursiveRef: '#' } }, type: 'object' },
      { next: {} },
      { next: 1 },
    ],
  ])('%s', (_, schema, good, bad) => {
    expect([isValid(schema, good), isValid(schema, bad)]).toEqual([true, false]);
  });

  test.each(['#/no', 'https://example.com/else', '#nowhere', 'http://[', '#/%zz', '#/__proto__'])(
    'that lead nowhere are refused: %s',
    ($ref) => {
      expect(() => compileSchema({ $ref })).toThrow('does not exist in it');
    },
  );
});

test.each<[JsonSchema, string]>([
  [{ type: 'toString' }, '/type must be string, number'],
  [{ properties: { a: { minLength: 'x' } } }, '/properties/a/minLength must be a number from 0; got "x"'],
  [{ items: [{ anyOf: {} }] }, '/items/0/anyOf must be a list; got an object with 0 members'],
  [{ properties: { 'ä/b': 5 } }, '/properties/ä~1b must be a schema; got 5'],
  [{ multipleOf: 0 }, '/multipleOf must be a number above 0; got 0'],
  [{ contains: {}, minContains: 'x' }, '/minContains must be a number from 0; got "x"'],
  [{ contains: {}, maxContains: -1 }, '/maxContains must be a number from 0; got -1'],
  [{ $schema: 'https://example.com/dialect' }, '/$schema must be a draft of JSON Schema'],
])('a schema is refused in words: %o', (schema, words) => {
  expect(() => compileSchema(schema)).toThrow(words);
});

test('members that every object inherits are not there', () => {
  for (const name of ['toString', 'constructor', '__proto__']) {
    expect(isValid({ required: [name] }, {})).toBe(false);
    expect(isValid({ required: [name] }, JSON.parse(`{"${name}":1}`))).toBe(true);
    expect(isValid(JSON.parse(`{"properties":{"${name}":{"type":"number"}}}`), {})).toBe(true);
    expect(isValid(JSON.parse(`{"properties":{"${name}":{"type":"number"}}}`), JSON.parse(`{"${name}":"x"}`))).toBe(
      false,
    );
  }
});

test('a multiple is found where division is not exact, and not where it only looks like one', () => {
  expect(isValid({ multipleOf: 0.01 }, 19.99)).toBe(true);
  expect(isValid({ multipleOf: 0.01 }, 19.995)).toBe(false);
  expect(isValid({ multipleOf: 2 }, 9007199254740991)).toBe(false);
  expect(isValid({ multipleOf: 1e-200 }, 1e300)).toBe(false);
});

test('a choice among very many values takes no longer for being large', () => {
  const values = Array.from({ length: 20_000 }, (_, n) => `v${n}`);
  expect(isValid({ items: { enum: values } }, Array(200_000).fill('v19999'))).toBe(true);
});

describe('a schema that has a large value read over and over again is given up', () => {
  const often = (form: JsonSchema): JsonSchema => ({
    anyOf: Array.from({ length: 10_000 }, () => ({ $ref: '#/$defs/form' })),
    $defs: { form },
  });
  const large = Array.from({ length: 30_000 }, (_, n) => n);
  const members = Object.fromEntries(large.map((n) => [`m${n}`, n]));
  test.each<[string, JsonSchema, Json]>([
    ['as one of some values', { enum: [[]] }, large],
    ['as one value', { const: {} }, members],
    ['for its items', { uniqueItems: true, contains: false }, large],
    ['for its length', { maxLength: 1_000 }, 'x'.repeat(300_000)],
    ['for how many members it has', { maxProperties: 1 }, members],
    ['for their names', { propertyNames: { maxLength: 0 } }, members],
    ['for members that it needs', { required: large.map(String) }, {}],
  ])('%s', (_, form, value) => {
    expect(() => isValid(often(form), value)).toThrow('takes too many steps');
    expect(isValid(form, value)).toBe(false);
  });
});
