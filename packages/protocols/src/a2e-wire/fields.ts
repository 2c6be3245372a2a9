import type { Json, JsonObject } from '../json.ts';
import type { Static, Typed } from '../static.ts';

// Building blocks of the message shapes. A field with a `default` may be left out by a sender;
// reading fills it in and writing always sends it. Defaults are only in the schema.

/** An object with these members. Open: further members are kept. */
export function object<const Properties extends object, const Required extends readonly string[] = readonly []>(
  properties: Properties,
  required?: Required,
) {
  const names = (required ?? []) as Required;
  return { type: 'object', required: names, properties } as const;
}

export function text<const Fallback extends string>(fallback: Fallback) {
  return { type: 'string', default: fallback } as const;
}

/** One of a closed set; anything else is refused, or kept with a warning when reading leniently. */
export function choice<const Values extends readonly string[], const Fallback extends string>(
  values: Values,
  fallback: Fallback,
) {
  return { enum: values, default: fallback } as const;
}

export function flag<const Fallback extends boolean>(fallback: Fallback) {
  return { type: 'boolean', default: fallback } as const;
}

export function number<const Fallback extends number>(fallback: Fallback) {
  return { type: 'number', default: fallback } as const;
}

/** A whole number from zero up. */
export function count<const Fallback extends number>(fallback: Fallback) {
  return { type: 'integer', minimum: 0, default: fallback } as const;
}

/** A duration in seconds, possibly with a fraction. */
export function seconds<const Fallback extends number>(fallback: Fallback) {
  return { type: 'number', minimum: 0, default: fallback } as const;
}

export function list<const Items extends object>(items: Items) {
  return { type: 'array', items, default: [] } as const;
}

/** The same field with a description for the published schema and the reference. */
export function described<const Schema extends object>(description: string, schema: Schema): Schema {
  return { ...schema, description };
}

/** A required name, not empty. */
export const requiredName = { type: 'string', minLength: 1 } as const;
export const string = { type: 'string' } as const;
export const time = { type: 'number', minimum: 0 } as const;
export const strings = { type: 'array', items: string, default: [] } as const;
export const stringMap = { type: 'object', additionalProperties: string, default: {} } as const;
export const textOrNull = { type: ['string', 'null'], default: null } as const;
export const integerOrNull = { type: ['integer', 'null'], default: null } as const;
export const numberOrNull = { type: ['number', 'null'], default: null } as const;

/** Parts that the protocol does not interpret. */
export const anything = { default: null } as unknown as Defaulted<Json>;
export const record = { type: 'object', default: {} } as unknown as Defaulted<JsonObject>;
export const recordOrNull = { type: ['object', 'null'], default: null } as unknown as Defaulted<JsonObject | null>;
export const records = { type: 'array', items: { type: 'object' }, default: [] } as unknown as Defaulted<JsonObject[]>;

/** The id of the message that an answer or event belongs to; empty if the peer left it out. */
export const req_id = text('');

/** The type after reading: `Static`, with every field that has a default present. */
export type Complete<Schema> =
  Schema extends Typed<infer Value>
    ? Value
    : Schema extends { readonly properties: infer Properties }
      ? Members<Properties, RequiredOf<Schema>> | (null extends NullOf<Schema> ? null : never)
      : Schema extends { readonly type: 'array'; readonly items: infer Items }
        ? readonly Complete<Items>[]
        : Static<Schema>;

type Members<Properties, Required> = {
  readonly [Key in keyof Properties as IsPresent<Key, Properties[Key], Required> extends true ? Key : never]: Complete<
    Properties[Key]
  >;
} & {
  readonly [Key in keyof Properties as IsPresent<Key, Properties[Key], Required> extends true ? never : Key]?: Complete<
    Properties[Key]
  >;
};

type IsPresent<Key, Schema, Required> = Key extends Required
  ? true
  : Schema extends { readonly default: unknown }
    ? true
    : false;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;
type NullOf<Schema> = Schema extends { readonly type: readonly ['object', 'null'] } ? null : undefined;
type Defaulted<Value> = Typed<Value> & { readonly default: unknown };
