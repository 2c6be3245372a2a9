import type { JsonObject } from '../json.ts';
import { Opaque } from '../schema.ts';
import type { Static, Typed } from '../static.ts';
import { AGENT_ID_PATTERN } from './agent-id.ts';

export const MAILBOX_VERSION = '0.3.0';
export const CONTENT_TYPES = ['text/plain', 'application/json', 'text/markdown'] as const;
export type ContentType = (typeof CONTENT_TYPES)[number];
export const PRIORITIES = ['urgent', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** The limits of one message. The spec says "10KB max"; both content limits apply. */
export const MAILBOX_LIMITS = {
  contentCharacters: 10_000,
  contentBytes: 10_240,
  /** Names, ids and task types, in characters. */
  line: 500,
  callbackUrl: 2048,
  version: 32,
} as const;

/** For a character class. Names and ids must not contain these characters: they could forge log lines and headers. */
const CONTROL_CHARACTERS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
const oneLine = `^[^${CONTROL_CHARACTERS}]*$`;
const line = { type: 'string', minLength: 1, maxLength: MAILBOX_LIMITS.line, pattern: oneLine } as const;
const lineOrNull = { ...line, type: ['string', 'null'] } as const;
const time = { type: 'string', format: 'date-time' } as const;
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const;
const version = { type: 'string', minLength: 1, maxLength: MAILBOX_LIMITS.version } as const;
const agentId = {
  type: ['string', 'null'],
  pattern: AGENT_ID_PATTERN,
  description: 'eip155:{chainId}:{registryAddress}:{tokenId}',
} as const;
const callbackUrl = {
  type: ['string', 'null'],
  format: 'uri',
  maxLength: MAILBOX_LIMITS.callbackUrl,
  pattern: '^[hH][tT][tT][pP][sS]://',
} as const;

const Party = {
  type: 'object',
  required: ['name', 'agentId'],
  properties: { name: lineOrNull, agentId },
  additionalProperties: false,
} as const;

const Sender = {
  type: 'object',
  required: ['name', 'agentId', 'callbackUrl'],
  properties: {
    name: line,
    agentId,
    callbackUrl,
    // Two fields of later versions; kept if present, never added.
    erc8004AgentId: lineOrNull,
    agentWallet: { type: ['string', 'null'], pattern: '^0x[a-fA-F0-9]{40}$' },
  },
  additionalProperties: false,
} as const;

const Content = {
  type: 'object',
  required: ['contentType', 'content'],
  properties: { contentType: { enum: CONTENT_TYPES }, content: Opaque },
  additionalProperties: false,
} as const;

const MetadataFields = {
  type: 'object',
  required: ['messageId', 'timestamp', 'replyTo', 'threadId', 'priority', 'expiresAt'],
  properties: {
    messageId: lineOrNull,
    timestamp: timeOrNull,
    replyTo: lineOrNull,
    threadId: lineOrNull,
    taskType: line,
    priority: { enum: PRIORITIES },
    expiresAt: timeOrNull,
  },
} as const;

/** The protocol's fields and the sender's own ("Custom fields allowed"). */
export type MailboxMetadata = Static<typeof MetadataFields> & JsonObject;

/**
 * A message as it is stored and passed on: every field present, shorthand expanded (A2A mailbox, Simplified Format).
 * `messageId` and `timestamp` are at the top and in `metadata`; both are null until the mailbox fills them in.
 */
export const MailboxMessage = {
  type: 'object',
  required: ['version', 'messageId', 'timestamp', 'from', 'to', 'message', 'metadata'],
  properties: {
    version,
    messageId: lineOrNull,
    timestamp: timeOrNull,
    from: Sender,
    to: Party,
    message: Content,
    metadata: MetadataFields as typeof MetadataFields & Typed<MailboxMetadata>,
  },
  additionalProperties: false,
} as const;
export type MailboxMessage = Static<typeof MailboxMessage>;
export type MailboxSender = MailboxMessage['from'];
export type MailboxParty = MailboxMessage['to'];

/**
 * The forms a sender may use instead: a string for an object, and almost everything left out (A2A mailbox, Simplified
 * Format). The endpoint accepts slightly more, with a warning.
 */
export const MailboxInput = {
  type: 'object',
  required: ['from', 'message'],
  properties: {
    ...MailboxMessage.properties,
    // The long form first: a validator records every form that did not match.
    from: { anyOf: [{ ...Sender, required: ['name'] }, line] },
    to: { anyOf: [{ ...Party, required: [] }, line, { type: 'null' }] },
    message: {
      anyOf: [
        { ...Content, required: ['content'] },
        { type: 'string', minLength: 1 },
      ],
    },
    metadata: { ...MetadataFields, type: ['object', 'null'], required: [] },
  },
  additionalProperties: false,
} as const;
export type MailboxInput = Static<typeof MailboxInput>;

const Recipient = {
  type: 'object',
  required: ['name', 'agentId', 'callbackUrl'],
  properties: { name: lineOrNull, agentId, callbackUrl },
  additionalProperties: false,
} as const;

const ResponseMetadataFields = {
  type: 'object',
  required: ['status', 'taskType', 'processingTime'],
  properties: {
    // An open set; in use are received, queued, success and error.
    status: lineOrNull,
    taskType: lineOrNull,
    processingTime: { type: ['number', 'null'], minimum: 0, description: 'milliseconds' },
  },
} as const;

/** The answer to a message, including at a callback URL (A2A mailbox, Response Format). */
export const MailboxResponse = {
  type: 'object',
  // biome-ignore format: a plain list
  required: ['version', 'messageId', 'timestamp', 'replyTo', 'threadId', 'from', 'to', 'message', 'metadata'],
  properties: {
    version,
    messageId: line,
    timestamp: timeOrNull,
    replyTo: lineOrNull,
    threadId: lineOrNull,
    from: { ...Party, properties: { name: line, agentId } },
    to: Recipient,
    message: Content,
    metadata: ResponseMetadataFields as typeof ResponseMetadataFields &
      Typed<Static<typeof ResponseMetadataFields> & JsonObject>,
  },
  additionalProperties: false,
} as const;
export type MailboxResponse = Static<typeof MailboxResponse>;

const ErrorFields = {
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'string', minLength: 1 },
    errors: { type: 'array', items: { type: 'string' }, description: 'with 400: what is wrong, a sentence each' },
    message: { type: 'string' },
    retryAfter: { type: 'number', minimum: 0, description: 'seconds; with 429 and 503' },
    timestamp: time,
  },
} as const;

/** The body of every error, for any HTTP status (A2A mailbox, Error Handling). A peer may add fields. */
export const MailboxError = ErrorFields as typeof ErrorFields & Typed<Static<typeof ErrorFields> & JsonObject>;
export type MailboxError = Static<typeof MailboxError>;
