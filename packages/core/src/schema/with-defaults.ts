import { isObject, type Json, type JsonObject, type JsonSchema, type Static } from '@dragoman/protocols';

/** A validated value with its defaults. */
export type Filled<Schema> = Schema extends { readonly properties: infer Members }
  ? Exclude<Static<Schema>, object> | FilledMembers<Schema, Members>
  : Schema extends { readonly additionalProperties: infer Member extends object }
    ? { readonly [name: string]: Filled<Member> }
    : Schema extends { readonly items: infer Item }
      ? Filled<Item>[]
      : Static<Schema>;

type FilledMembers<Schema, Members> = {
  readonly [Key in keyof Members as IsThere<Schema, Members, Key> extends true ? Key : never]: Filled<Members[Key]>;
} & {
  readonly [Key in keyof Members as IsThere<Schema, Members, Key> extends true ? never : Key]?: Filled<Members[Key]>;
};

type IsThere<Schema, Members, Key extends keyof Members> = Members[Key] extends { readonly default: unknown }
  ? true
  : Schema extends { readonly required: readonly (infer Name)[] }
    ? Key extends Name
      ? true
      : false
    : false;

/**
 * Fills in the defaults of a schema, including in lists and maps. An object with the default `{}` gets those of its
 * members.
 */
export function withDefaults<const Schema extends object>(schema: Schema, value: Static<Schema>): Filled<Schema> {
  return filled(schema as JsonSchema, value as Json) as Filled<Schema>;
}

function filled(schema: JsonSchema, value: Json): Json {
  const { properties, additionalProperties: member, items } = schema;
  if (Array.isArray(value)) return isObject(items) ? value.map((item) => filled(items, item)) : value;
  if (!isObject(value)) return value;
  if (isObject(properties)) return filledMembers(properties as Record<string, JsonSchema>, value);
  if (!isObject(member)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(member, one)]));
}

function filledMembers(properties: Readonly<Record<string, JsonSchema>>, value: JsonObject): JsonObject {
  const complete: JsonObject = { ...value };
  for (const [key, member] of Object.entries(properties)) {
    const given = value[key] ?? (member['default'] as Json | undefined);
    if (given !== undefined) complete[key] = filled(member, given);
  }
  return complete;
}
