import type { Json, JsonObject } from '@dragoman/protocols';
import type { SchemaRun } from './schema-run.ts';

/** The types of values with specific keywords. */
export type SchemaKind = 'number' | 'string' | 'array' | 'object' | 'other';

interface Values {
  number: number;
  string: string;
  array: readonly Json[];
  object: JsonObject;
  other: boolean | null;
  any: Json;
}

/** Whether a value follows one keyword. If not, the rule records the problem with the run. */
export type SchemaRule<Of extends keyof Values = keyof Values> = (value: Values[Of], run: SchemaRun) => boolean;

/** A schema, or a part of one, as the rules that its keywords make. */
export interface SchemaNode {
  rules: Readonly<Record<SchemaKind, readonly SchemaRule<never>[]>>;
  /** The work of checking a value once, without its members. */
  weight: number;
  isTracked: boolean;
}
