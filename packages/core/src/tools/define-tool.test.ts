import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import { expect, expectTypeOf, test } from 'vitest';
import { defineTool, isToolSpec, problemOf } from './define-tool.ts';
import type { ToolCall } from './tool.ts';

const run = () => 1;

test.each([
  [{ name: 'two words', input: {}, run }, 'name must be 1 to 128 letters'],
  [{ input: {}, run }, 'got nothing'],
  [{ name: 'x', run }, 'input of x must be a JSON Schema'],
  [{ name: 'x', input: [], run }, 'input of x must be a JSON Schema'],
  [
    { name: 'x', input: { type: 'objct' }, run },
    'input of x: /type must be string, number, integer, boolean, object, array, null or a list of them; got "objct"; did you mean "object"?',
  ],
  [
    { name: 'x', input: { properties: { a: { type: ['text', 'null'] } } }, run },
    'input of x: /properties/a/type must be',
  ],
  [{ name: 'x', input: { properties: { a: { items: { type: 'int' } } } }, run }, '/properties/a/items/type must be'],
  [{ name: 'x', input: { anyOf: [{}, { type: 5 }] }, run }, '/anyOf/1/type must be'],
  [
    { name: 'x', input: { properties: { a: { type: 'string', required: true } } }, run },
    'input of x: /properties/a/required must be a list of names, beside properties; got true',
  ],
  [{ name: 'x', input: {} }, 'run of x must be a function'],
  [{ name: 'x', input: { default: 1n }, run }, 'input of x must be a JSON Schema'],
  [{ name: 'x', input: {}, output: 5, run }, 'output of x must be a JSON Schema'],
  [{ name: 'x', input: {}, run, tags: 'a' }, 'tags of x must be a list'],
  [{ name: 'x', input: {}, run, description: 5 }, 'description of x must be a string'],
  [{ name: 'x', input: {}, run, version: 2 }, 'version of x must be a string'],
  [{ name: 'x', input: {}, run, idempotent: 'yes' }, 'idempotent of x must be true or false'],
  [{ name: 'x', input: {}, run, deferred: 'no' }, 'deferred of x must be true or false'],
])('%o is refused in words', (spec, words) => {
  expect(problemOf(spec)).toContain(words);
  expect(() => defineTool(spec as never)).toThrow(words);
});

test('a schema that contains itself is refused: no list of tools could include it', () => {
  const input: Record<string, unknown> = { type: 'object' };
  input['properties'] = { child: input };
  expect(problemOf({ name: 'x', input, run })).toContain('input of x must be a JSON Schema');
});

test('members named like keywords are not keywords, and a schema may omit any keyword', () => {
  const type = { type: ['string', 'null'], enum: [{ type: 'objct' }], default: { required: true } };
  const list = { type: 'array', items: { properties: { type, required: type } }, not: true };
  const input = { type: 'object', required: ['type'], properties: { type, required: type, list, any: true } };
  expect(problemOf({ name: 'x', input, run })).toBeUndefined();
});

test('optional members may be undefined', () => {
  const left = ['description', 'output', 'idempotent', 'tags', 'version', 'deferred'].map((name) => [name, undefined]);
  expect(problemOf({ name: 'x', input: {}, run, ...Object.fromEntries(left) })).toBeUndefined();
});

test('a tool is known by what it has, not by who made it', () => {
  expect(isToolSpec(defineTool({ name: 'x', input: { type: 'object' }, run }))).toBe(true);
  expect(isToolSpec({ name: 'x', input: {}, run })).toBe(true);
  expect(isToolSpec({ name: 'x' })).toBe(false);
});

test('the arguments of run have the types of input, without annotations', async () => {
  const bake = defineTool({
    name: 'bake',
    input: {
      type: 'object',
      required: ['cake', 'minutes'],
      properties: {
        cake: { type: 'string', minLength: 1 },
        minutes: { type: 'integer' },
        size: { enum: ['small', 'large'] },
        layers: { type: 'array', items: { type: 'object', required: ['of'], properties: { of: { type: 'string' } } } },
      },
    },
    run({ cake, minutes, size, layers = [] }) {
      expectTypeOf({ cake, minutes }).toEqualTypeOf<{ cake: string; minutes: number }>();
      expectTypeOf(size).toEqualTypeOf<'small' | 'large' | undefined>();
      expectTypeOf(layers).toEqualTypeOf<{ of: string }[]>();
      // @ts-expect-error a number has no such method
      const wrong = () => minutes.toUpperCase();
      return { text: `${cake.toUpperCase()} ${minutes + 1} ${layers.length} ${typeof wrong}` };
    },
  });
  expect(await bake.run({ cake: 'carrot', minutes: 1 }, {} as ToolCall)).toEqual({ text: 'CARROT 2 0 function' });
  const schema: JsonSchema = { type: 'object' };
  defineTool({ name: 'any', input: schema, run: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>() });
});
