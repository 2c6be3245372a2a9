import type { Json, JsonObject } from './json.ts';
import type { Typed } from './static.ts';

/** A draft-07 JSON Schema as data. Shapes are written `as const`; this is their type for generic code. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A shape's place in the published set: the schema plus the file name it is written to, without `.json`. */
export interface SchemaSet {
  readonly dialect: string;
  /** Keyed by the exported name of the compiled validator, `MailboxMessage` → `generated/<dialect>.js`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Frequent messages, for which more code than a validator is generated. */
  readonly often?: readonly string[];
}

/** Any JSON value that the protocol does not interpret. */
export const Opaque = {} as unknown as Typed<Json>;

/** An object that the protocol does not interpret: limited in bytes and depth only. */
export const OpaqueObject = { type: 'object' } as unknown as Typed<JsonObject>;

/** One type list instead of `anyOf`: a wrong value is one problem, not one for each branch. */
export const OpaqueObjectOrNull = { type: ['object', 'null'] } as unknown as Typed<JsonObject | null>;

/** The id of a JSON-RPC call: every answer repeats it, so a number must be exact in a double. */
export const JsonRpcId = {
  type: ['string', 'integer', 'null'],
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** Published schemas use a reserved host name that never resolves. */
export const SCHEMA_BASE = 'https://dragoman.example/schemas';
