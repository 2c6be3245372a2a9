import type { TUnsafe } from 'typebox';
import type { Json, JsonObject } from './json.ts';

/** A draft-07 JSON Schema as data. Shapes are written `as const`; this is what generic code reads them as. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A shape's place in the published set: the schema plus the file name it is written to, without `.json`. */
export interface SchemaSet {
  readonly dialect: string;
  /** Keyed by the exported name of the compiled validator, `MailboxMessage` → `generated/<dialect>.js`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** Any JSON value the protocol does not look into. */
export const Opaque = {} as TUnsafe<Json>;

/** An object the protocol does not look into: bounded by bytes and depth, never by shape. */
export const OpaqueObject = { type: 'object' } as { readonly type: 'object' } & TUnsafe<JsonObject>;

/** Published schemas live under a reserved name: it never resolves, so nothing can be served in its place. */
export const SCHEMA_BASE = 'https://dragoman.example/schemas';
