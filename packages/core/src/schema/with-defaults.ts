import { isObject, type Json, type JsonObject, type Static } from '@dragoman/protocols';

/** A validated value with its defaults. */
export type Filled<Schema> = Schema extends { readonly type: 'object'; readonly properties: infer Members }
  ? {
      readonly [Key in keyof Members as IsThere<Schema, Members, Key> extends true ? Key : never]: Filled<Members[Key]>;
    } & {
      readonly [Key in keyof Members as IsThere<Schema, Members, Key> extends true ? never : Key]?: Filled<
        Members[Key]
      >;
    }
  : Static<Schema>;

type IsThere<Schema, Members, Key extends keyof Members> = Members[Key] extends { readonly default: unknown }
  ? true
  : Schema extends { readonly required: readonly (infer Name)[] }
    ? Key extends Name
      ? true
      : false
    : false;

/** A value of a schema with its defaults. An object with the default `{}` is filled with those of its members. */
export function withDefaults<const Schema extends object>(schema: Schema, value: Static<Schema>): Filled<Schema> {
  return filled(schema, value as Json) as Filled<Schema>;
}

function filled(schema: object, value: Json): Json {
  if (!isObject(value) || !('properties' in schema)) return value;
  const complete: JsonObject = { ...value };
  for (const [key, member] of Object.entries(schema.properties as Record<string, object>)) {
    const given = value[key] ?? ('default' in member ? (member.default as Json) : undefined);
    if (given !== undefined) complete[key] = filled(member, given);
  }
  return complete;
}
