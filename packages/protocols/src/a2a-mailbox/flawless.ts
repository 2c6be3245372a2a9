import { hasForbiddenKey } from '../forbidden-key.ts';
import * as validators from '../generated/a2a-mailbox.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { instantOf } from '../time.ts';
import { type ContentLimits, excessiveSize } from './content-size.ts';
import { fieldSlipsIn } from './fields.ts';
import { MAILBOX_VERSION, type MailboxInput } from './message.ts';

/**
 * The fast path of the reader: one pass of the compiled schema and the rules that a schema cannot express. If it
 * returns false, the slow path checks each rule and words the problems.
 */
export function isFlawless(input: JsonObject, now: Date, limits?: ContentLimits): boolean {
  if (!isInput(input)) return false;
  const { version, from, message, metadata } = input;
  if (version !== undefined && version !== MAILBOX_VERSION) return false;
  // At the top, an id or a time must be the same as in `metadata`; the slow path compares them.
  if (input.messageId !== undefined || input.timestamp !== undefined) return false;
  const name = typeof from === 'string' ? from : from.name;
  if (!startsPlainly(name) && name.trim() === '') return false;
  if (typeof from === 'object' && typeof from.callbackUrl === 'string' && !isPlainUrl(from.callbackUrl)) return false;
  if (!hasContent(message, limits)) return false;
  return !isObject(metadata) || isFlawlessMetadata(metadata, now);
}

/** Whether a name starts with a printable ASCII character, so that it cannot be only white space. */
function startsPlainly(name: string): boolean {
  const first = name.charCodeAt(0);
  return first > SPACE && first <= TILDE;
}

/** Whether a URL has neither a password nor a fragment. The schema has checked the rest. */
function isPlainUrl(url: string): boolean {
  return !/[@#]/.test(url);
}

function hasContent(message: MailboxInput['message'], limits: ContentLimits | undefined): boolean {
  if (typeof message === 'string') return excessiveSize(message, limits) === undefined;
  const { content, contentType } = message;
  if (content === null || content === '' || excessiveSize(content, limits) !== undefined) return false;
  return typeof content === 'string' || contentType === undefined || contentType === 'application/json';
}

function isFlawlessMetadata(metadata: JsonObject, now: Date): boolean {
  if (hasForbiddenKey(metadata) || fieldSlipsIn(metadata).length > 0) return false;
  const { expiresAt } = metadata;
  return typeof expiresAt !== 'string' || instantOf(expiresAt) > now.getTime();
}

function isInput(json: Json): json is MailboxInput {
  return validators.Input(json);
}

const SPACE = 0x20;
const TILDE = 0x7e;
