import { isObject, type Json, type JsonObject } from '../json.ts';
import {
  CONTENT_TYPES,
  type ContentType,
  MAILBOX_VERSION,
  MailboxMessage,
  type MailboxMetadata,
  type MailboxParty,
  type MailboxSender,
} from './message.ts';

/**
 * A message with its shorthand expanded (A2A mailbox, Simplified Format). It expects input in which `findingsIn` found
 * no problem, adds neither id nor time, and does not change an expanded message.
 */
export function normalise(input: JsonObject): MailboxMessage {
  const metadata = normalMetadata(input);
  return {
    version: textIn(input.version) ?? MAILBOX_VERSION,
    messageId: metadata.messageId,
    timestamp: metadata.timestamp,
    from: normalSender(input.from),
    to: normalParty(input.to),
    message: normalContent(input.message),
    metadata,
  };
}

/** The message with its recipient filled in where the sender named none, or named this mailbox without its agentId. */
export function withRecipient(message: MailboxMessage, mailbox: MailboxParty): MailboxMessage {
  const { name, agentId } = message.to;
  if (name === null && agentId === null) return { ...message, to: { name: mailbox.name, agentId: mailbox.agentId } };
  // The id of this mailbox belongs to its own name only: another agent must not receive it.
  if (name !== mailbox.name || agentId !== null) return message;
  return { ...message, to: { name, agentId: mailbox.agentId } };
}

/** The bare type of a `contentType`, when it is a supported one: parameters such as charset have no meaning in JSON. */
export function supportedContentType(given: string): ContentType | undefined {
  if (given === 'text/plain' || given === 'application/json' || given === 'text/markdown') return given;
  const semicolon = given.indexOf(';');
  const bare = (semicolon === -1 ? given : given.slice(0, semicolon)).trim().toLowerCase();
  return CONTENT_TYPES.find((type) => type === bare);
}

/** A declared type, when it is supported and fits the content: a text type fits only a string. */
export function fittingContentType(given: Json | undefined, content: Json | undefined): ContentType | undefined {
  const supported = typeof given === 'string' ? supportedContentType(given) : undefined;
  return supported === 'application/json' || typeof content === 'string' ? supported : undefined;
}

/** The values that mean "none". */
export function isNone(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** An optional field's text. Null and the empty string mean "none". */
export function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function normalSender(from: Json | undefined): MailboxSender {
  if (!isObject(from)) return { name: textIn(from) ?? '', agentId: null, callbackUrl: null };
  const sender: MailboxSender = {
    name: textIn(from.name) ?? '',
    agentId: textIn(from.agentId) ?? null,
    callbackUrl: textIn(from.callbackUrl) ?? null,
  };
  const erc8004AgentId = textIn(from.erc8004AgentId);
  if (erc8004AgentId !== undefined) sender.erc8004AgentId = erc8004AgentId;
  const agentWallet = textIn(from.agentWallet);
  if (agentWallet !== undefined) sender.agentWallet = agentWallet;
  return sender;
}

function normalParty(to: Json | undefined): MailboxParty {
  if (!isObject(to)) return { name: textIn(to) ?? null, agentId: null };
  return { name: textIn(to.name) ?? null, agentId: textIn(to.agentId) ?? null };
}

function normalContent(message: Json | undefined): MailboxMessage['message'] {
  if (!isObject(message)) return { contentType: 'text/plain', content: message ?? null };
  const content = message.content ?? null;
  return { contentType: contentTypeFor(textIn(message.contentType), content), content };
}

/** Without a supported type, a text is plain text and anything else is JSON. */
export function contentTypeFor(given: string | undefined, content: Json): ContentType {
  const supported = given === undefined ? undefined : supportedContentType(given);
  return supported ?? (typeof content === 'string' ? 'text/plain' : 'application/json');
}

function normalMetadata(input: JsonObject): MailboxMetadata {
  const given = isObject(input.metadata) ? input.metadata : {};
  const metadata: MailboxMetadata = {
    messageId: textIn(given.messageId) ?? textIn(input.messageId) ?? null,
    timestamp: textIn(given.timestamp) ?? textIn(input.timestamp) ?? null,
    replyTo: textIn(given.replyTo) ?? null,
    threadId: textIn(given.threadId) ?? null,
    priority: given.priority === 'urgent' || given.priority === 'low' ? given.priority : 'normal',
    expiresAt: textIn(given.expiresAt) ?? null,
  };
  const taskType = textIn(given.taskType);
  if (taskType !== undefined) metadata.taskType = taskType;
  for (const key in given) if (!METADATA_FIELDS.has(key)) keep(metadata, key, given[key] ?? null);
  return metadata;
}

/** Adds a custom field. `__proto__` is defined, because an assignment would set the prototype. */
function keep(fields: JsonObject, key: string, value: Json): void {
  if (key !== '__proto__') fields[key] = value;
  else Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The sender's own fields; `undefined` if there are none. */
export function customFields(metadata: MailboxMetadata): JsonObject | undefined {
  let custom: JsonObject | undefined;
  for (const key in metadata) {
    if (METADATA_FIELDS.has(key)) continue;
    custom ??= {};
    keep(custom, key, metadata[key] ?? null);
  }
  return custom;
}

const METADATA_FIELDS: ReadonlySet<string> = new Set(Object.keys(MailboxMessage.properties.metadata.properties));
