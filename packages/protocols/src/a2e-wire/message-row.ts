import type { JsonObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import type { JsonSchema } from '../schema.ts';

/** Who may send a message. The suffix of a type does not decide it: the host sends MCP sampling requests. */
export type SendingSide = 'agent' | 'host' | 'both';

/** The role of a message: a request, a response, an event of a running request, or a notification. */
export type Role = 'request' | 'answer' | 'event' | 'notice';

/** One message type: its own fields beside the base ones, and its place in a conversation. */
export interface MessageRow {
  readonly schema: JsonSchema;
  readonly from: SendingSide;
  readonly role: Role;
  /** Of a request: the type that answers it. */
  readonly answer?: string;
  /** Of a request: the type of the events sent while it runs. */
  readonly events?: string;
  /** Of an event: `kind` decides the form of `data`. */
  readonly typedData?: boolean;
  /** Rules that a schema cannot express, checked only on messages that fit the schema. */
  readonly check?: (message: JsonObject) => readonly Issue[];
  /** Of a request: it changes or deletes something, so a member that its type does not have is refused, not kept. */
  readonly changes?: boolean;
}

/** A group of message types that are available together. */
export interface Namespace {
  /** The capability that grants these types; undefined if every connection has them. */
  readonly capability: string | undefined;
  readonly types: Readonly<Record<string, MessageRow>>;
  /** Other spellings in use → ours. */
  readonly aliases?: Readonly<Record<string, string>>;
}

interface RequestOptions {
  readonly from?: SendingSide;
  readonly events?: string;
  readonly check?: (message: JsonObject) => readonly Issue[];
  readonly changes?: boolean;
}

export function request<const Schema extends JsonSchema, const Answer extends string>(
  schema: Schema,
  answer: Answer,
  options: RequestOptions = {},
) {
  return { from: 'agent', ...options, schema, answer, role: 'request' } as const;
}

export function answer<const Schema extends JsonSchema>(schema: Schema, from: SendingSide = 'host') {
  return { schema, from, role: 'answer' } as const;
}

export function event<const Schema extends JsonSchema>(schema: Schema, typedData = true) {
  return { schema, from: 'host', role: 'event', typedData } as const;
}

export function notice<const Schema extends JsonSchema>(schema: Schema, from: SendingSide) {
  return { schema, from, role: 'notice' } as const;
}
