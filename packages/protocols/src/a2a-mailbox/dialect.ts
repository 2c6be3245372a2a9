import type { Dialect } from '../dialect.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { show } from '../validation.ts';
import type { ContentLimits } from './content-size.ts';
import { mailboxFromEnvelope, mailboxToEnvelope } from './envelope.ts';
import { errorBody } from './error-body.ts';
import { isFlawless } from './flawless.ts';
import { MAILBOX_LIMITS, type MailboxError, type MailboxMessage, type MailboxResponse } from './message.ts';
import { readError, readResponse } from './read-answer.ts';
import { mailboxFromResponse } from './response.ts';
import { normalise } from './shorthand.ts';
import { findingsByRule, isTolerated } from './validate.ts';

/** A2A Message Schema v0.3.0: agents that post messages to each other, keep threads, and are called back. */
export const mailboxDialect: Dialect<MailboxWire> = mailboxDialectWith(MAILBOX_LIMITS);

/** The dialect of a mailbox with other content limits than the spec's. */
export function mailboxDialectWith(limits: ContentLimits): Dialect<MailboxWire> {
  return {
    name: 'a2a-mailbox',
    recognizes,
    decode: (json, now, { lenient = false } = {}) => decode(json, { now, lenient, limits }),
    encode: (message) => message,
    toEnvelope: (message) => (isMailboxMessage(message) ? mailboxToEnvelope(message) : undefined),
    fromEnvelope: (envelope, stamp) => mailboxFromEnvelope(envelope, stamp, limits),
    fromResponse: mailboxFromResponse,
    fromFailure: (failure, _request, { now }) => errorBody(failure, now),
  };
}

/** Any message that a mailbox sends or receives. */
export type MailboxWire = MailboxMessage | MailboxResponse | MailboxError;

export function isMailboxError(message: MailboxWire): message is MailboxError {
  return 'error' in message;
}

export function isMailboxResponse(message: MailboxWire): message is MailboxResponse {
  return 'replyTo' in message && !isMailboxError(message);
}

export function isMailboxMessage(message: MailboxWire): message is MailboxMessage {
  return !isMailboxError(message) && !isMailboxResponse(message);
}

function recognizes(json: Json): boolean {
  if (!isObject(json) || OTHERS.some((key) => Object.hasOwn(json, key))) return false;
  return has(json, 'message', 'from') || looksLikeResponse(json) || looksLikeError(json);
}

function decode(json: Json, { now, lenient, limits }: Reading): Outcome<MailboxWire> {
  if (!isObject(json)) {
    return reject({ pointer: '', code: 'type', message: `the message must be an object; got ${show(json)}` });
  }
  // Checked first: answers and error bodies cannot match it.
  if (isFlawless(json, now, limits)) return accept(normalise(json));
  if (isRefusal(json)) return readError(json);
  if (looksLikeResponse(json)) return readResponse(json, lenient);
  const findings = findingsByRule(json, now, limits);
  const issues = findings.filter((finding) => !isTolerated(finding, lenient));
  return issues.length > 0 ? reject(...issues) : accept(normalise(json), findings);
}

interface Reading {
  readonly now: Date;
  readonly lenient: boolean;
  readonly limits: ContentLimits;
}

/**
 * Whether the object is an answer: it has `replyTo` at the top, beside its own id, where a request has it in
 * `metadata`. Answers have no simplified form, so an object with a text as its sender or content is a request with a
 * misplaced `replyTo`.
 */
function looksLikeResponse(json: JsonObject): boolean {
  const isSimplified = typeof json.from === 'string' || typeof json.message === 'string';
  return !isSimplified && Object.hasOwn(json, 'messageId') && Object.hasOwn(json, 'replyTo');
}

/** Other protocols also have an `error` text; these three fields together are the mailbox's. */
function looksLikeError(json: JsonObject): boolean {
  return isRefusal(json) && has(json, 'errors', 'timestamp', 'retryAfter');
}

function isRefusal(json: JsonObject): boolean {
  return typeof json.error === 'string' && !Object.hasOwn(json, 'from');
}

function has(json: JsonObject, ...keys: readonly string[]): boolean {
  return keys.some((key) => Object.hasOwn(json, key));
}

/** Keys that mark the messages of other protocols, some of which have a `message` too. */
const OTHERS = ['message_type', 'type', 'protocol_version', 'retry_after', 'execution_id'];
