import { expectTypeOf, test } from 'vitest';
import type { Json, JsonObject } from './json.ts';
import type { Opaque, OpaqueObject, OpaqueObjectOrNull } from './schema.ts';
import type { Static } from './static.ts';

// These are checked by the compiler (`npm run check`); running them shows only that the file loads.

test('required members are present, the rest optional', () => {
  const schema = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string', minLength: 1 }, size: { type: 'integer' }, on: { type: 'boolean' } },
  } as const;
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<{ id: string; size?: number; on?: boolean }>();
});

test('a list of types, an enum and a constant are unions', () => {
  expectTypeOf<Static<{ type: readonly ['string', 'null'] }>>().toEqualTypeOf<string | null>();
  expectTypeOf<Static<{ enum: readonly ['a', 1, null] }>>().toEqualTypeOf<'a' | 1 | null>();
  expectTypeOf<Static<{ const: 'a' }>>().toEqualTypeOf<'a'>();
});

test('arrays and maps carry the type of what they hold', () => {
  expectTypeOf<Static<{ type: 'array'; items: { type: 'number' } }>>().toEqualTypeOf<number[]>();
  expectTypeOf<Static<{ type: 'array' }>>().toEqualTypeOf<Json[]>();
  const map = { type: 'object', additionalProperties: { type: 'string' } } as const;
  expectTypeOf<Static<typeof map>>().toEqualTypeOf<{ [key: string]: string }>();
});

test('branches are alternatives and parts are all there', () => {
  const branches = { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'null' } } }] } as const;
  expectTypeOf<Static<typeof branches>>().toEqualTypeOf<string | { a?: null }>();
  const parts = {
    allOf: [
      { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
      { type: 'object', required: ['b'], properties: { b: { type: 'number' } } },
    ],
  } as const;
  expectTypeOf<Static<typeof parts>>().toEqualTypeOf<{ a: string; b: number }>();
});

test('opaque parts are JSON', () => {
  expectTypeOf<Static<typeof Opaque>>().toEqualTypeOf<Json>();
  expectTypeOf<Static<typeof OpaqueObject>>().toEqualTypeOf<JsonObject>();
  expectTypeOf<Static<typeof OpaqueObjectOrNull>>().toEqualTypeOf<JsonObject | null>();
  expectTypeOf<Static<{ type: 'object' }>>().toEqualTypeOf<JsonObject>();
});
