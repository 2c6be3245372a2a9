import type { Json, JsonObject } from './json.ts';

/**
 * The TypeScript type of the values that a JSON Schema accepts, for schemas written `as const`, so that a shape is
 * written once. It reads the keywords that our shapes use; bounds (`minLength`, `pattern`, …) are left to the
 * validator.
 */
export type Static<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Branch)[] }
      ? Static<Branch>
      : Schema extends { readonly oneOf: readonly (infer Branch)[] }
        ? Static<Branch>
        : Schema extends { readonly allOf: readonly (infer Part)[] }
          ? Flat<Intersection<Part extends unknown ? Static<Part> : never>>
          : Schema extends { readonly type: readonly (infer Name)[] }
            ? Named<Name, Schema>
            : Schema extends { readonly type: infer Name }
              ? Named<Name, Schema>
              : Schema extends { readonly properties: unknown }
                ? Members<Schema>
                : Json;

/** A schema with an explicit type: for type inference it is the constant T, at run time a plain schema. */
export type Typed<T> = { readonly const: T };

type Named<Name, Schema> = Name extends 'object'
  ? Members<Schema>
  : Name extends 'array'
    ? Schema extends { readonly items: infer Item }
      ? Static<Item>[]
      : Json[]
    : Name extends 'string'
      ? string
      : Name extends 'number' | 'integer'
        ? number
        : Name extends 'boolean'
          ? boolean
          : Name extends 'null'
            ? null
            : never;

type Members<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      {
        -readonly [Key in keyof Properties as Key extends RequiredKey<Schema> ? Key : never]: Static<Properties[Key]>;
      } & {
        -readonly [Key in keyof Properties as Key extends RequiredKey<Schema> ? never : Key]?: Static<Properties[Key]>;
      }
    >
  : Schema extends { readonly additionalProperties: infer Member extends object }
    ? { [key: string]: Static<Member> }
    : JsonObject;

type RequiredKey<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type Intersection<Union> = (Union extends unknown ? (part: Union) => void : never) extends (whole: infer Whole) => void
  ? Whole
  : never;

/** One object type instead of an intersection, so that editors show its members. */
type Flat<T> = T extends object ? { [Key in keyof T]: T[Key] } : T;
