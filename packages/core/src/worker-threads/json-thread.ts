import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import {
  type Issue,
  isObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  parseJson,
  parseJsonBytes,
} from '@dragoman/protocols';
import { type A2AMessage, a2aMessagesDialect, parseMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import { sharedBytes } from '../text/long-text.ts';

export interface ToJsonThread {
  readonly source: Uint8Array | string;
  readonly limits: JsonLimits;
  /** The current time in epoch milliseconds, where the text must be an A2A message. */
  readonly now?: number | undefined;
}

/** The issues of a text, `isSound`, or the result for an A2A message. */
export type FromJsonThread = { readonly issues: readonly Issue[] } | { readonly isSound: true } | MessageChecked;

/** The thread's result for an A2A message. */
export type MessageChecked =
  | { readonly issues: readonly Issue[] }
  /** JSON, but not a message; `about` has the short members, for the answer. */
  | { readonly invalid: readonly Issue[]; readonly about: JsonObject }
  | { readonly head: A2AMessage; readonly signed: SignedBytes };

/** The content that a signature covers, in memory that threads share, and its SHA-256 in base64url. */
export interface SignedBytes {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

// The thread that checks long JSON texts.

if (parentPort === null) throw new Error('json-thread.ts runs in a worker only');
const port = parentPort;

port.on('message', ({ source, limits, now }: ToJsonThread) => {
  port.postMessage(now === undefined ? check(source, limits) : checkMessage(source, limits, new Date(now)));
});

function check(source: Uint8Array | string, limits: JsonLimits): FromJsonThread {
  const json = typeof source === 'string' ? parseJson(source, limits) : parseJsonBytes(source, limits);
  return json.ok ? { isSound: true } : { issues: json.issues };
}

function checkMessage(source: Uint8Array | string, limits: JsonLimits, now: Date): MessageChecked {
  const json = parseMessage(source, limits);
  if (!json.ok) return { issues: json.issues };
  const decoded = a2aMessagesDialect.decode(json.value, now);
  if (!decoded.ok) return { invalid: decoded.issues, about: shortMembers(json.value) };
  const content = signedContent(decoded.value);
  if (!content.ok) return { invalid: content.issues, about: shortMembers(json.value) };
  const { text } = content.value;
  // Only the head is returned: the sender and the time decide whether the rest is checked.
  const head = { ...decoded.value, payload: {} } as A2AMessage;
  return { head, signed: { bytes: sharedBytes(text), digest: hash('sha256', text, 'base64url') } };
}

function shortMembers(json: Json): JsonObject {
  const entries = Object.entries(isObject(json) ? json : {});
  return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string' && value.length <= 256));
}
