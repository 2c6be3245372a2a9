import type { Json, JsonObject } from './json.ts';

/** The generated code for a frequent message. */
export interface Often {
  readonly write: FieldsWriter;
  /** Whether a valid message has every member of its schema and no other. */
  readonly isWhole: (message: JsonObject) => boolean;
}

/**
 * Writes the fields of a message as members of a JSON object, each with a comma before it. Defaults are included, the
 * fields in the head of every message are not. `undefined` if the members are not exactly the fields of the schema.
 */
export type FieldsWriter = (fields: JsonObject, how: ValueWriting) => string | undefined;

/** Writes any value. */
export interface ValueWriting {
  /** `undefined` for values that JSON cannot represent. */
  readonly valueText: (value: Json) => string | undefined;
  /** Whether a value is a plain object: no inherited members, no `toJSON`. */
  readonly isPlain: (value: unknown) => value is JsonObject;
  /** Whether a text needs no escapes in JSON. */
  readonly standsAsItIs: (text: string) => boolean;
}
