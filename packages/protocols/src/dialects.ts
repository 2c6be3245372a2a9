import { mailboxDialect } from './a2a-mailbox/dialect.ts';
import { a2aMessagesDialect } from './a2a-messages/dialect.ts';
import { a2eWireDialect } from './a2e-wire/dialect.ts';
import { a2eWorkflowDialect } from './a2e-workflow/dialect.ts';
import type { Dialect } from './dialect.ts';
import { e2aDialect } from './e2a/dialect.ts';
import type { Json } from './json.ts';

/** Every supported protocol. A new one is a folder and a line here. */
export const DIALECTS: readonly Dialect<unknown>[] = [
  e2aDialect,
  a2aMessagesDialect,
  mailboxDialect,
  a2eWireDialect,
  a2eWorkflowDialect,
];

export function dialectNamed(name: string): Dialect<unknown> | undefined {
  return DIALECTS.find((dialect) => dialect.name === name);
}

/** The dialect a message is written in, by its shape. */
export function dialectOf(json: Json): Dialect<unknown> | undefined {
  return DIALECTS.find((dialect) => dialect.recognizes(json));
}
