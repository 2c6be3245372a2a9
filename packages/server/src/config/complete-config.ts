import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { type Config, ConfigShape } from './config-schema.ts';
import type { Filled } from './filled.ts';

/** A configuration in which every key with a default has a value. */
export type CompleteConfig = Filled<typeof ConfigShape>;

/** Puts in the defaults of the schema. An object with the default `{}` is filled with those of its members. */
export function completeConfig(config: Config): CompleteConfig {
  return filled(ConfigShape, config as JsonObject) as CompleteConfig;
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
