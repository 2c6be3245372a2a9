import { forbiddenKeysIn } from '../forbidden-key.ts';
import * as validators from '../generated/a2a-mailbox.js';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { issuesOf, show } from '../validation.ts';
import { MAILBOX_VERSION, MailboxError, MailboxResponse } from './message.ts';
import { contentTypeFor, isNone, supportedContentType, textIn } from './shorthand.ts';
import { isTolerated, versionIssue } from './validate.ts';

/**
 * A response or callback body of any mailbox. Fields missing in the spec's own callback example are filled in, and
 * missing content is null.
 */
export function readResponse(json: JsonObject, lenient: boolean): Outcome<MailboxResponse> {
  const filled = withDefaults(json);
  const findings = [
    ...forbiddenIn(json),
    ...issuesOf(validators.Response, MailboxResponse, filled),
    ...repaired(json.message),
  ];
  const version = versionIssue(filled.version);
  if (version !== undefined) findings.push(version);
  const issues = findings.filter((finding) => !isTolerated(finding, lenient));
  return issues.length > 0 ? reject(...issues) : accept(writtenOut(filled), findings);
}

/** An error body. A peer's additional members, such as the price of a payment, are kept. */
export function readError(json: JsonObject): Outcome<MailboxError> {
  const issues = [...forbiddenIn(json), ...issuesOf(validators.ErrorBody, MailboxError, json)];
  return issues.length > 0 ? reject(...issues) : accept({ ...json, error: textIn(json.error) ?? '' });
}

/** The full shape, with unknown members kept as received: the schema judges them. */
function withDefaults(json: JsonObject): JsonObject {
  const { from, to, message, metadata } = json;
  return {
    ...json,
    version: orElse(json.version, MAILBOX_VERSION),
    timestamp: orElse(json.timestamp, null),
    replyTo: orElse(json.replyTo, null),
    threadId: orElse(json.threadId, null),
    ...(isObject(from) && { from: { ...from, agentId: orElse(from.agentId, null) } }),
    to: isObject(to) || to === undefined || to === null ? partyWithDefaults(to ?? {}) : to,
    ...(isObject(message) && { message: contentWithDefaults(message) }),
    metadata: isObject(metadata) || metadata === undefined ? metadataWithDefaults(metadata ?? {}) : metadata,
  };
}

function partyWithDefaults(to: JsonObject): JsonObject {
  return {
    ...to,
    name: orElse(to.name, null),
    agentId: orElse(to.agentId, null),
    callbackUrl: orElse(to.callbackUrl, null),
  };
}

function contentWithDefaults(message: JsonObject): JsonObject {
  const content = message.content ?? null;
  const { contentType } = message;
  const supported = typeof contentType === 'string' ? supportedContentType(contentType) : undefined;
  return { ...message, contentType: supported ?? orElse(contentType, contentTypeFor(undefined, content)), content };
}

function metadataWithDefaults(metadata: JsonObject): JsonObject {
  return {
    ...metadata,
    status: orElse(metadata.status, null),
    taskType: orElse(metadata.taskType, null),
    processingTime: orElse(metadata.processingTime, null),
  };
}

/** The validated response with its type. Unknown fields that lenient reading accepted are dropped. */
function writtenOut(filled: JsonObject): MailboxResponse {
  const [from, to, message] = [membersOf(filled.from), membersOf(filled.to), membersOf(filled.message)];
  const metadata = membersOf(filled.metadata);
  const { processingTime } = metadata;
  const content = message.content ?? null;
  return {
    version: textIn(filled.version) ?? MAILBOX_VERSION,
    messageId: textIn(filled.messageId) ?? '',
    timestamp: textIn(filled.timestamp) ?? null,
    replyTo: textIn(filled.replyTo) ?? null,
    threadId: textIn(filled.threadId) ?? null,
    from: { name: textIn(from.name) ?? '', agentId: textIn(from.agentId) ?? null },
    to: {
      name: textIn(to.name) ?? null,
      agentId: textIn(to.agentId) ?? null,
      callbackUrl: textIn(to.callbackUrl) ?? null,
    },
    message: { contentType: contentTypeFor(textIn(message.contentType), content), content },
    metadata: {
      ...metadata,
      status: textIn(metadata.status) ?? null,
      taskType: textIn(metadata.taskType) ?? null,
      processingTime: typeof processingTime === 'number' ? processingTime : null,
    },
  };
}

function repaired(message: Json | undefined): Issue[] {
  if (!isObject(message)) return [];
  const { contentType } = message;
  const found: Issue[] = [];
  const supported = typeof contentType === 'string' ? supportedContentType(contentType) : undefined;
  if (supported !== undefined && supported !== contentType) {
    const remark = `contentType ${show(contentType)} is read as ${supported}`;
    found.push({ pointer: '/message/contentType', code: 'coerced', message: remark });
  }
  if (message.content === undefined) {
    found.push({ pointer: '/message/content', code: 'coerced', message: 'content is missing and taken as null' });
  }
  return found;
}

function forbiddenIn(json: JsonObject): Issue[] {
  const parts = ['from', 'to', 'message', 'metadata'];
  return [...forbiddenKeysIn(json, ''), ...parts.flatMap((part) => forbiddenKeysIn(membersOf(json[part]), `/${part}`))];
}

function membersOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function orElse(value: Json | undefined, none: Json): Json {
  return isNone(value) ? none : value;
}
