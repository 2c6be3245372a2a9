import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { formats } from './formats.ts';
import { ToolListReq } from './generated/a2e-wire.js';
import type { Issue } from './outcome.ts';
import type { JsonSchema } from './schema.ts';
import { issuesOf, show, type Validator } from './validation.ts';

describe('one line for each keyword: the field, the expected and the received value', () => {
  test.each<[string, JsonSchema, unknown, Partial<Issue>]>([
    [
      'required',
      { required: ['code'] },
      {},
      { pointer: '/code', code: 'required', message: 'code is required but missing' },
    ],
    [
      'type',
      at({ type: 'integer' }),
      { field: '7' },
      { pointer: '/field', code: 'type', message: 'field must be an integer; got "7"' },
    ],
    [
      'type of several',
      at({ type: ['string', 'null'] }),
      { field: 7 },
      { message: 'field must be a string or null; got 7' },
    ],
    [
      'type array',
      at({ type: 'array' }),
      { field: {} },
      { message: 'field must be an array; got an object with 0 members' },
    ],
    [
      'type object',
      at({ type: 'object' }),
      { field: [1] },
      { message: 'field must be an object; got an array of 1 item' },
    ],
    [
      'enum',
      at({ enum: ['ok', 'failed'] }),
      { field: 'maybe' },
      { code: 'enum', message: 'field must be one of "ok", "failed"; got "maybe"' },
    ],
    ['const', at({ const: '1.0' }), { field: '2.0' }, { code: 'const', message: 'field must be "1.0"; got "2.0"' }],
    [
      'pattern',
      at({ pattern: '^[0-9a-f]{4}$' }),
      { field: 'xyz' },
      { code: 'pattern', message: 'field must match ^[0-9a-f]{4}$; got "xyz"' },
    ],
    [
      'format',
      at({ format: 'date-time' }),
      { field: '9' },
      { code: 'format', message: 'field must be an RFC 3339 time such as 2026-03-28T12:00:00.000Z; got "9"' },
    ],
    [
      'format uri',
      at({ format: 'uri' }),
      { field: '/a' },
      { message: 'field must be an absolute URI such as https://agent.example/a2a; got "/a"' },
    ],
    [
      'minLength',
      at({ minLength: 1 }),
      { field: '' },
      { code: 'too_short', message: 'field must have at least 1 character; got ""' },
    ],
    [
      'maxLength',
      at({ maxLength: 2 }),
      { field: '😀😀😀' },
      { code: 'too_long', message: 'field must have at most 2 characters; got 3 characters' },
    ],
    [
      'minItems',
      at({ minItems: 1 }),
      { field: [] },
      { code: 'too_few', message: 'field must have at least 1 item; got 0' },
    ],
    [
      'maxItems',
      at({ maxItems: 1 }),
      { field: [1, 2] },
      { code: 'too_many', message: 'field must have at most 1 item; got 2' },
    ],
    [
      'minProperties',
      at({ minProperties: 2 }),
      { field: { a: 1 } },
      { code: 'too_few', message: 'field must have at least 2 members; got 1' },
    ],
    [
      'maxProperties',
      at({ maxProperties: 0 }),
      { field: { a: 1 } },
      { code: 'too_many', message: 'field must have at most 0 members; got 1' },
    ],
    ['minimum', at({ minimum: 0 }), { field: -1 }, { code: 'too_small', message: 'field must be at least 0; got -1' }],
    ['maximum', at({ maximum: 9 }), { field: 10 }, { code: 'too_large', message: 'field must be at most 9; got 10' }],
    [
      'exclusiveMinimum',
      at({ exclusiveMinimum: 0 }),
      { field: 0 },
      { code: 'too_small', message: 'field must be more than 0; got 0' },
    ],
    [
      'exclusiveMaximum',
      at({ exclusiveMaximum: 9 }),
      { field: 9 },
      { code: 'too_large', message: 'field must be less than 9; got 9' },
    ],
    [
      'uniqueItems',
      at({ uniqueItems: true }),
      { field: [1, 2, 1] },
      { code: 'repeated_item', message: 'field must not repeat items; items 0 and 2 are equal' },
    ],
    [
      'not',
      at({ not: { const: 1 } }),
      { field: 1 },
      { code: 'forbidden', message: 'field must not have this form; got 1' },
    ],
    [
      'any other',
      at({ multipleOf: 2 }),
      { field: 3 },
      { code: 'multipleOf', message: 'field must satisfy multipleOf; got 3' },
    ],
    [
      'the whole message',
      { type: 'object' },
      null,
      { pointer: '', message: 'the message must be an object; got null' },
    ],
  ])('%s', (_, schema, value, expected) => {
    expect(problems(schema, value)).toEqual([expect.objectContaining(expected)]);
  });
});

describe('an unknown field', () => {
  const schema = { properties: { request_id: {}, method: {} }, additionalProperties: false };

  test('is reported with the known fields, and the nearest one', () => {
    expect(problems(schema, { requestId: 1 })).toEqual([
      {
        pointer: '/requestId',
        code: 'unknown_field',
        message: 'requestId is not a known field; expected request_id, method',
        suggestion: 'did you mean request_id?',
      },
    ]);
  });

  test('that resembles none is to be removed', () => {
    expect(problems(schema, { colour: 1 })).toMatchObject([{ suggestion: 'remove colour' }]);
  });

  test('deep inside is reported with the fields of that place, even through a definition', () => {
    const outer = {
      definitions: { 'a/b c': schema },
      properties: { list: { items: { $ref: '#/definitions/a~1b%20c' } } },
    };
    expect(problems(outer, { list: [{}, { methd: 1 }] })).toMatchObject([
      {
        pointer: '/list/1/methd',
        message: 'methd is not a known field; expected request_id, method',
        suggestion: 'did you mean method?',
      },
    ]);
  });

  test('where no field is allowed is reported as such', () => {
    expect(problems({ properties: {}, additionalProperties: false }, { a: 1 })[0]?.message).toBe(
      'a is not a known field; expected none',
    );
  });

  test('of a shape that another file declares is reported without guessing at its fields', () => {
    const validate: Validator = () => false;
    validate.errors = [
      {
        instancePath: '',
        schemaPath: 'base.json/additionalProperties',
        keyword: 'additionalProperties',
        params: { additionalProperty: 'a' },
      },
    ];
    expect(issuesOf(validate, schema, { a: 1 })[0]?.message).toBe('a is not a known field');
  });

  test('with an endless name, or a name every object has, makes a short message', () => {
    const [issue] = problems(schema, { ['k'.repeat(5000)]: 1 });
    expect(issue?.message.length).toBeLessThan(150);
    expect(issue?.suggestion?.length).toBeLessThan(150);
    expect(problems(schema, { constructor: 1 })).toMatchObject([
      { pointer: '/constructor', suggestion: 'remove constructor' },
    ]);
  });
});

describe('the field is named as a person would', () => {
  const number = { type: 'number' };
  test.each<[string, JsonSchema, unknown, string]>([
    ['an item by its list', at({ items: number }), { field: [1, 'x'] }, 'field[1]'],
    [
      'an item of an item by all its indexes',
      at({ items: { items: number } }),
      { field: [[], [1, 'x']] },
      'field[1][1]',
    ],
    ['an item of the message itself', { items: number }, [1, 'x'], 'item [1]'],
    ['a member by its own name', at({ properties: { 'a/b': number } }), { field: { 'a/b': 'x' } }, 'a/b'],
  ])('%s', (_, schema, value, name) => {
    expect(problems(schema, value)[0]?.message).toBe(`${name} must be a number; got "x"`);
  });
});

describe('all problems', () => {
  test('are reported, not the first alone', () => {
    const schema = { required: ['a', 'b'], properties: { c: { type: 'string' }, d: { minimum: 1 } } };
    expect(problems(schema, { c: 1, d: 0 }).map((issue) => issue.pointer)).toEqual(['/a', '/b', '/c', '/d']);
  });

  test('of an alternative are reported without the keyword that only wraps them', () => {
    const schema = at({ anyOf: [{ type: 'string' }, { type: 'object', required: ['name'] }] });
    expect(problems(schema, { field: {} }).map((issue) => issue.code)).toEqual(['type', 'required']);
  });

  test('are never none: a keyword that wraps nothing speaks for itself', () => {
    expect(problems(at({ oneOf: [{ type: 'number' }, { minimum: 0 }] }), { field: 1 })).toMatchObject([
      { pointer: '/field', code: 'oneOf', message: 'field must satisfy oneOf; got 1' },
    ]);
  });

  test('are none when it is valid', () => {
    expect(problems(at({ type: 'string' }), { field: 'x' })).toEqual([]);
  });
});

test('an enum suggests the word that was meant', () => {
  expect(problems(at({ enum: ['succeeded', 'failed', 7] }), { field: 'suceeded' })).toMatchObject([
    { suggestion: 'did you mean "succeeded"?' },
  ]);
  expect(problems(at({ enum: ['succeeded', 7] }), { field: 8 })[0]).not.toHaveProperty('suggestion');
});

test('of very many problems a hundred are reported, and that there are more', () => {
  const issues = problems({ type: 'array', items: { type: 'string' } }, Array(10_000).fill(1));
  expect(issues).toHaveLength(101);
  expect(issues.at(-1)).toMatchObject({ pointer: '', code: 'more_problems' });
});

test('a compiled validator keeps no more errors than it reports', () => {
  const crowded = { a2e: '1.0', type: 'tool/list/req', id: 'x', ts: 1, filter_tags: Array(10_000).fill(1) };
  expect(ToolListReq(crowded)).toBe(false);
  expect(ToolListReq.errors).toHaveLength(100);
});

describe('a value is shown in one line', () => {
  test.each<[unknown, string]>([
    [undefined, 'nothing'],
    [null, 'null'],
    [true, 'true'],
    [-1.5, '-1.5'],
    ['a "b"\n', '"a \\"b\\"\\n"'],
    [[], 'an array of 0 items'],
    [[1], 'an array of 1 item'],
    [{ a: 1 }, 'an object with 1 member'],
    [{ a: 1, b: 2 }, 'an object with 2 members'],
  ])('%j as %s', (value, text) => {
    expect(show(value)).toBe(text);
  });

  test('cut at 80 characters, and never inside of one', () => {
    expect(show('x'.repeat(78))).toBe(`"${'x'.repeat(78)}"`);
    expect(show('x'.repeat(79))).toBe(`"${'x'.repeat(78)}…`);
    for (let length = 70; length < 90; length++) {
      const shown = show('x'.repeat(length) + '😀'.repeat(20));
      expect(shown.length).toBeLessThanOrEqual(80);
      expect(shown).not.toMatch(/[\uD800-\uDFFF]/u);
    }
  });
});

/** A message with one field of this shape. */
function at(field: JsonSchema): JsonSchema {
  return { properties: { field } };
}

/** The problems that a validator, compiled like ours, finds in the value. */
function problems(schema: JsonSchema, value: unknown): readonly Issue[] {
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { ...formats } });
  return issuesOf(ajv.compile(schema) as Validator, schema, value);
}
