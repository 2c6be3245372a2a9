import { isObject, type Json, type JsonObject } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Issue } from '../outcome.ts';
import { isTimestamp, parseTimestamp } from '../time.ts';
import { MORE_PROBLEMS, show } from '../validation.ts';
import { isMailboxAgentId } from './agent-id.ts';
import { faultOfCallbackUrl } from './callback-url.ts';
import { type ContentLimits, excessiveSize } from './content-size.ts';
import { fieldsOf } from './fields.ts';
import { isFlawless } from './flawless.ts';
import { CONTENT_TYPES, MAILBOX_LIMITS, MAILBOX_VERSION, PRIORITIES } from './message.ts';
import { isNone, supportedContentType } from './shorthand.ts';

/**
 * All problems of a message, in the order of a mailbox: missing fields, then malformed ones (A2A mailbox, Validation
 * Rules). The spec's texts are used unchanged; the received value and the fix are in `suggestion`. `isTolerated`
 * distinguishes warnings from errors.
 */
export function findingsIn(input: JsonObject, now: Date, limits?: ContentLimits): readonly Issue[] {
  return isFlawless(input, now, limits) ? NONE : findingsByRule(input, now, limits);
}

/** `findingsIn` without the fast path: applies every rule. */
export function findingsByRule(input: JsonObject, now: Date, limits: ContentLimits = MAILBOX_LIMITS): Issue[] {
  const found: Issue[] = [];
  const parts: Parts = {
    input,
    from: membersOf(input.from),
    to: membersOf(input.to),
    message: membersOf(input.message),
    content: isObject(input.message) ? input.message.content : input.message,
    metadata: membersOf(input.metadata),
    now,
    limits,
  };
  for (const rule of RULES) rule(parts, found);
  return found;
}

/** Whether a finding is only a warning: a mistake that is always fixed, or one that lenient reading accepts. */
export function isTolerated({ code }: Issue, lenient: boolean): boolean {
  return code === 'coerced' || code === 'likely_slip' || (lenient && LENIENT.has(code));
}

/**
 * The `errors` of a 400 body: one sentence for each problem, with the fix if the sentence is not the specification's.
 */
export function errorTexts(issues: readonly Issue[]): string[] {
  return issues.map(({ code, message, suggestion }) =>
    suggestion !== undefined && OUR_SENTENCES.has(code) ? `${message}; ${suggestion}` : message,
  );
}

/** The parsed parts of a message: the members of each part written as an object. */
interface Parts {
  readonly input: JsonObject;
  readonly from: JsonObject;
  readonly to: JsonObject;
  readonly message: JsonObject;
  readonly content: Json | undefined;
  readonly metadata: JsonObject;
  readonly now: Date;
  readonly limits: ContentLimits;
}

type Rule = (parts: Parts, found: Issue[]) => void;

function senderIsNamed({ input, from }: Parts, found: Issue[]): void {
  if (isBlank(input.from)) found.push({ pointer: '/from', code: 'required', message: 'Missing required field: from' });
  else if (isObject(input.from)) {
    if (!isBlank(from.name)) return;
    const message = 'from.name is required when from is an object';
    found.push({ pointer: '/from/name', code: 'required', message });
  } else if (typeof input.from !== 'string') found.push(wrongType('/from', 'a string or an object', input.from));
}

function contentIsThere({ input, message }: Parts, found: Issue[]): void {
  if (isNone(input.message)) {
    found.push({ pointer: '/message', code: 'required', message: 'Missing required field: message' });
  } else if (isObject(input.message)) {
    // Zero and false are content; only null and the empty string are none.
    if (!isNone(message.content)) return;
    const text = 'message.content is required when message is an object';
    found.push({ pointer: '/message/content', code: 'required', message: text });
  } else if (typeof input.message !== 'string') {
    found.push(wrongType('/message', 'a string or an object', input.message));
  }
}

function agentIdsAreWellFormed({ from, to }: Parts, found: Issue[]): void {
  agentIdIsWellFormed(from.agentId, '/from/agentId', found);
  agentIdIsWellFormed(to.agentId, '/to/agentId', found);
}

function agentIdIsWellFormed(agentId: Json | undefined, pointer: string, found: Issue[]): void {
  if (isNone(agentId) || (typeof agentId === 'string' && isMailboxAgentId(agentId))) return;
  found.push({
    pointer,
    code: 'pattern',
    message: 'Invalid agentId format (expected CAIP-2: eip155:chainId:registry:tokenId)',
    suggestion: `got ${show(agentId)}; the registry is 0x and 40 hex digits, the other two are decimal numbers`,
  });
}

function callbackUrlIsHttps({ from: { callbackUrl } }: Parts, found: Issue[]): void {
  if (isNone(callbackUrl)) return;
  const isText = typeof callbackUrl === 'string';
  const fault = isText ? faultOfCallbackUrl(callbackUrl) : 'use a string';
  if (fault === undefined) return;
  const message = 'Invalid callbackUrl format (must be https://)';
  // Values that may contain a password are not repeated, because issues end up in logs.
  const got = isText && callbackUrl.includes('@') ? '' : `got ${show(callbackUrl)}; `;
  const suggestion = `${got}${fault}`;
  found.push({ pointer: '/from/callbackUrl', code: 'format', message, suggestion });
}

function contentIsShortEnough({ input, content, limits }: Parts, found: Issue[]): void {
  const size = isNone(content) ? undefined : excessiveSize(content, limits);
  if (size === undefined) return;
  const { contentCharacters, contentBytes } = limits;
  // The reference counts characters and has no sentence for the 10 KB of the specification.
  const most = size.characters > contentCharacters ? `${contentCharacters} characters` : `${contentBytes} bytes`;
  found.push({
    pointer: isObject(input.message) ? '/message/content' : '/message',
    code: 'too_long',
    message: `Message too long (max ${most})`,
    suggestion: `got ${size.characters} characters in ${size.bytes} bytes; at most ${contentBytes} bytes are allowed`,
  });
}

function laterSenderFieldsAreWellFormed({ from: { erc8004AgentId, agentWallet } }: Parts, found: Issue[]): void {
  if (erc8004AgentId !== undefined) lineIsPlain(erc8004AgentId, '/from/erc8004AgentId', found);
  if (isNone(agentWallet) || (typeof agentWallet === 'string' && WALLET.test(agentWallet))) return;
  const message = `agentWallet must be 0x and 40 hex digits; got ${show(agentWallet)}`;
  found.push({ pointer: '/from/agentWallet', code: 'pattern', message });
}

function timestampsAreTimes({ input, metadata }: Parts, found: Issue[]): void {
  timestampIsTime(input.timestamp, '/timestamp', found);
  // The full form has the timestamp twice; equal values are checked once.
  if (metadata.timestamp !== input.timestamp) timestampIsTime(metadata.timestamp, '/metadata/timestamp', found);
}

function timestampIsTime(timestamp: Json | undefined, pointer: string, found: Issue[]): void {
  if (isNone(timestamp) || (typeof timestamp === 'string' && isTimestamp(timestamp))) return;
  const message = `timestamp must be an ISO 8601 time such as 2026-03-28T12:00:00.000Z; got ${show(timestamp)}`;
  found.push({ pointer, code: 'format', message });
}

function contentTypeIsSupported({ message: { contentType } }: Parts, found: Issue[]): void {
  if (isNone(contentType)) return;
  const supported = typeof contentType === 'string' ? supportedContentType(contentType) : undefined;
  if (supported === contentType) return;
  if (supported !== undefined) {
    const message = `contentType ${show(contentType)} is read as ${supported}`;
    found.push({ pointer: '/message/contentType', code: 'coerced', message });
    return;
  }
  const close = typeof contentType === 'string' ? nearest(contentType, CONTENT_TYPES) : undefined;
  found.push({
    pointer: '/message/contentType',
    code: typeof contentType === 'string' ? 'enum' : 'type',
    message: `Invalid contentType (supported: ${CONTENT_TYPES.join(', ')})`,
    suggestion: `got ${show(contentType)}${close === undefined ? '' : `; did you mean ${close}?`}`,
  });
}

/** "Type depends on contentType": a text type needs a string; JSON is any value, including a string. */
function contentFitsItsType({ message: { contentType, content } }: Parts, found: Issue[]): void {
  if (typeof contentType !== 'string' || isNone(content) || typeof content === 'string') return;
  const supported = supportedContentType(contentType);
  if (supported === undefined || supported === 'application/json') return;
  const message = `content must be a string when contentType is ${supported}; got ${show(content)}`;
  const suggestion = 'use contentType application/json, or leave it out';
  found.push({ pointer: '/message/content', code: 'type', message, suggestion });
}

function expiryIsAhead({ metadata: { expiresAt }, now }: Parts, found: Issue[]): void {
  if (isNone(expiresAt)) return;
  const pointer = '/metadata/expiresAt';
  const end = typeof expiresAt === 'string' ? parseTimestamp(expiresAt) : undefined;
  if (end === undefined) {
    const message = 'Invalid expiresAt format (must be ISO 8601)';
    const suggestion = `got ${show(expiresAt)}; use a time with its zone, such as 2026-03-28T12:00:00.000Z`;
    found.push({ pointer, code: 'format', message, suggestion });
  } else if (end <= now.getTime()) {
    const suggestion = `it expired at ${show(expiresAt)}; the time is now ${now.toISOString()}`;
    found.push({ pointer, code: 'expired', message: 'Message already expired', suggestion });
  }
}

function priorityIsKnown({ metadata: { priority } }: Parts, found: Issue[]): void {
  if (isNone(priority) || priority === 'normal' || priority === 'urgent' || priority === 'low') return;
  const close = typeof priority === 'string' ? nearest(priority, PRIORITIES) : undefined;
  found.push({
    pointer: '/metadata/priority',
    code: typeof priority === 'string' ? 'enum' : 'type',
    message: `priority must be urgent, normal, or low; got ${show(priority)}`,
    ...(close !== undefined && { suggestion: `did you mean ${close}?` }),
  });
}

function versionIsOurs({ input: { version } }: Parts, found: Issue[]): void {
  const issue = version === MAILBOX_VERSION ? undefined : versionIssue(version);
  if (issue !== undefined) found.push(issue);
}

/** Every 0.x message has this shape; another major version need not. */
export function versionIssue(version: Json | undefined): Issue | undefined {
  if (isNone(version)) return undefined;
  if (typeof version !== 'string' || version.length > MAILBOX_LIMITS.version) {
    return wrongType('/version', `a version such as ${MAILBOX_VERSION}`, version);
  }
  if (OUR_MAJOR.test(version)) return undefined;
  const message = `version must be 0.x, such as ${MAILBOX_VERSION}; got ${show(version)}`;
  return { pointer: '/version', code: 'version', message };
}

function recipientIsOne({ input: { to }, to: { name } }: Parts, found: Issue[]): void {
  if (isObject(to)) {
    if (name !== undefined) lineIsPlain(name, '/to/name', found);
  } else if (to !== undefined && to !== null && typeof to !== 'string') {
    found.push(wrongType('/to', 'a string or an object', to));
  } else if (to !== undefined) lineIsPlain(to, '/to', found);
}

function metadataIsAnObject({ input: { metadata } }: Parts, found: Issue[]): void {
  if (metadata === undefined || metadata === null || isObject(metadata)) return;
  found.push(wrongType('/metadata', 'an object', metadata));
}

function namesAndIdsArePlain({ input, from, metadata }: Parts, found: Issue[]): void {
  if (typeof input.from === 'string') lineIsPlain(input.from, '/from', found);
  else if (from.name !== undefined && !isBlank(from.name)) lineIsPlain(from.name, '/from/name', found);
  if (input.messageId !== undefined && input.messageId !== metadata.messageId) {
    lineIsPlain(input.messageId, '/messageId', found);
  }
  if (metadata.messageId !== undefined) lineIsPlain(metadata.messageId, '/metadata/messageId', found);
  if (metadata.replyTo !== undefined) lineIsPlain(metadata.replyTo, '/metadata/replyTo', found);
  if (metadata.threadId !== undefined) lineIsPlain(metadata.threadId, '/metadata/threadId', found);
  if (metadata.taskType !== undefined) lineIsPlain(metadata.taskType, '/metadata/taskType', found);
}

/**
 * Names and ids are refused, not trimmed: a changed id no longer finds its message, and a changed name may be that of
 * another agent.
 */
function lineIsPlain(value: Json, pointer: string, found: Issue[]): void {
  if (value === null || (typeof value === 'string' && isPlainLine(value))) return;
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  if (typeof value !== 'string') found.push(wrongType(pointer, 'a string', value));
  else if (isTooLong(value)) {
    const message = `${name} must have at most ${MAILBOX_LIMITS.line} characters; got ${[...value].length}`;
    found.push({ pointer, code: 'too_long', message });
  } else {
    const message = `${name} must be one line without control characters; got ${show(value)}`;
    found.push({ pointer, code: 'control_character', message });
  }
}

/** Whether a text is one line of printable characters, no longer than a name or an id may be. */
export function isPlainLine(text: string): boolean {
  return !isTooLong(text) && isPrintable(text);
}

/** In characters, as the published schema counts. */
function isTooLong(text: string): boolean {
  return text.length > MAILBOX_LIMITS.line && [...text].length > MAILBOX_LIMITS.line;
}

/** Whether a text has no control character. */
function isPrintable(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || (code >= 0x7f && (code <= 0x9f || code === 0x2028 || code === 0x2029))) return false;
  }
  return true;
}

/** The full form has the id and the time twice; different values would be ambiguous. */
function repeatedFieldsAgree({ input, metadata }: Parts, found: Issue[]): void {
  if (input.messageId !== undefined) fieldsAgree('messageId', input.messageId, metadata.messageId, found);
  if (input.timestamp !== undefined) fieldsAgree('timestamp', input.timestamp, metadata.timestamp, found);
}

function fieldsAgree(name: string, outer: Json, inner: Json | undefined, found: Issue[]): void {
  if (outer === inner || isNone(outer) || isNone(inner)) return;
  const message = `${name} must be the same as metadata.${name}; got ${show(outer)} and ${show(inner)}`;
  found.push({ pointer: `/${name}`, code: 'mismatch', message, suggestion: `leave out the outer ${name}` });
}

function fieldsAreKnown({ input, from, to, message, metadata }: Parts, found: Issue[]): void {
  fieldsOf('', input, found);
  if (from !== NO_MEMBERS) fieldsOf('/from', from, found);
  if (to !== NO_MEMBERS) fieldsOf('/to', to, found);
  if (message !== NO_MEMBERS) fieldsOf('/message', message, found);
  if (metadata !== NO_MEMBERS) fieldsOf('/metadata', metadata, found);
}

function isBlank(value: Json | undefined): boolean {
  return typeof value === 'string' ? value.trim() === '' : isNone(value);
}

function wrongType(pointer: string, expected: string, value: Json | undefined): Issue {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  return { pointer, code: 'type', message: `${name} must be ${expected}; got ${show(value)}` };
}

function membersOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : NO_MEMBERS;
}

// The first ten are in the order of the reference mailbox, so that its senders see the sentence they know first.
const RULES: readonly Rule[] = [
  senderIsNamed,
  contentIsThere,
  agentIdsAreWellFormed,
  callbackUrlIsHttps,
  contentIsShortEnough,
  laterSenderFieldsAreWellFormed,
  timestampsAreTimes,
  contentTypeIsSupported,
  contentFitsItsType,
  expiryIsAhead,
  priorityIsKnown,
  versionIsOurs,
  recipientIsOne,
  metadataIsAnObject,
  namesAndIdsArePlain,
  repeatedFieldsAgree,
  fieldsAreKnown,
];

const LENIENT: ReadonlySet<string> = new Set(['enum', 'version', 'unknown_field', MORE_PROBLEMS.code]);
/** Problems for which neither the specification nor the reference mailbox has a sentence. */
const OUR_SENTENCES: ReadonlySet<string> = new Set(['unknown_field', 'mismatch']);
const NO_MEMBERS: JsonObject = {};
const NONE: readonly Issue[] = [];
const WALLET = /^0x[a-fA-F0-9]{40}$/;
const OUR_MAJOR = /^0\.\d{1,5}(\.\d{1,5})?$/;
