import type { Json, JsonObject } from './json.ts';

/** What is made beforehand of the schema of a message that comes and goes very often. */
export interface Often {
  readonly write: FieldsWriter;
  /** Whether a message, which is as its schema wants it, has every member that there is and no other. */
  readonly isWhole: (message: JsonObject) => boolean;
}

/**
 * Writes the fields of a message as members of a JSON object, each with a comma before it: with every default, and without those
 * that stand in the head of each message. `undefined` when they are not just what its schema has.
 */
export type FieldsWriter = (fields: JsonObject, how: ValueWriting) => string | undefined;

/** How a value is written, whatever it is. */
export interface ValueWriting {
  /** `undefined` for what JSON cannot say. */
  readonly valueText: (value: Json) => string | undefined;
  /** Whether a value is an object with members and nothing more. */
  readonly isPlain: (value: unknown) => value is JsonObject;
  /** Whether a text can stand between quotes as it is. */
  readonly standsAsItIs: (text: string) => boolean;
}
