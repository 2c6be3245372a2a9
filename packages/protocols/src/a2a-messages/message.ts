import { OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';
import {
  AgentId,
  AnsweredId,
  CorrelationId,
  DateTime,
  MessageId,
  NothingAnswered,
  REGISTRY,
  RecipientId,
  Timestamp,
} from './fields.ts';
import {
  AgentAnnouncementPayload,
  DiscoverAgentsPayload,
  ErrorMessagePayload,
  GoodbyePayload,
  HandshakeAckPayload,
  HandshakePayload,
  RequestPayload,
  ResponsePayload,
} from './payloads.ts';

/** Any A2A message; `message_type` distinguishes them. */
export type A2AMessage =
  | RequestMessage
  | ResponseMessage
  | HandshakeMessage
  | HandshakeAckMessage
  | ErrorMessage
  | DiscoverAgentsMessage
  | AgentAnnouncementMessage
  | GoodbyeMessage;

export const MESSAGE_TYPES = [
  'request',
  'response',
  'handshake',
  'handshake_ack',
  'error',
  'discover_agents',
  'agent_announcement',
  'goodbye',
] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/**
 * Proof of the sender (Authenticated Message Schema). Closed wherever it appears; `agent_id` must equal `sender_id`.
 */
export const AuthenticationTag = {
  type: 'object',
  description: 'Who signed this message, when, and the signature.',
  required: ['agent_id', 'timestamp', 'nonce', 'signature'],
  properties: {
    agent_id: { type: 'string', minLength: 3, maxLength: 128, description: 'The same as sender_id.' },
    timestamp: { ...DateTime, description: 'When it was signed.' },
    nonce: {
      type: 'string',
      pattern: '^[0-9a-f]{32}$',
      description: '16 random bytes in lower-case hex, never used twice.',
    },
    signature: { type: 'string', contentEncoding: 'base64', description: 'The signature in standard Base64.' },
    public_key_fingerprint: {
      type: 'string',
      description: '`sha256:` and the SHA-256 of the public key (DER SubjectPublicKeyInfo) in lower-case hex.',
    },
  },
  additionalProperties: false,
} as const;
export type AuthenticationTag = Static<typeof AuthenticationTag>;

/** The base of all messages. Closed: no type adds a member beside the payload. */
export const BaseMessage = {
  type: 'object',
  required: ['message_id', 'message_type', 'sender_id', 'recipient_id', 'timestamp', 'payload'],
  properties: {
    message_id: MessageId,
    message_type: { type: 'string', enum: MESSAGE_TYPES },
    sender_id: AgentId,
    recipient_id: RecipientId,
    timestamp: Timestamp,
    payload: { ...OpaqueObject, description: 'The content; its shape follows from message_type.' },
    correlation_id: CorrelationId,
    auth: AuthenticationTag,
  },
  additionalProperties: false,
} as const;
export type BaseMessage = Static<typeof BaseMessage>;

// The rules of each type beyond the base message. The rule for `correlation_id` is the spec's quick-reference table.

export const RequestPart = {
  properties: {
    message_type: { const: 'request' },
    correlation_id: NothingAnswered,
    payload: RequestPayload,
  },
} as const;
export type RequestMessage = BaseMessage & Static<typeof RequestPart>;

export const ResponsePart = {
  properties: {
    message_type: { const: 'response' },
    correlation_id: AnsweredId,
    payload: ResponsePayload,
  },
  required: ['correlation_id'],
} as const;
export type ResponseMessage = BaseMessage & Static<typeof ResponsePart>;

export const HandshakePart = {
  properties: {
    message_type: { const: 'handshake' },
    correlation_id: NothingAnswered,
    payload: HandshakePayload,
  },
} as const;
export type HandshakeMessage = BaseMessage & Static<typeof HandshakePart>;

export const HandshakeAckPart = {
  properties: {
    message_type: { const: 'handshake_ack' },
    correlation_id: AnsweredId,
    payload: HandshakeAckPayload,
  },
  required: ['correlation_id'],
} as const;
export type HandshakeAckMessage = BaseMessage & Static<typeof HandshakeAckPart>;

export const ErrorPart = {
  properties: {
    message_type: { const: 'error' },
    correlation_id: AnsweredId,
    payload: ErrorMessagePayload,
  },
  required: ['correlation_id'],
} as const;
export type ErrorMessage = BaseMessage & Static<typeof ErrorPart>;

export const DiscoverAgentsPart = {
  properties: {
    message_type: { const: 'discover_agents' },
    recipient_id: { const: REGISTRY },
    correlation_id: NothingAnswered,
    payload: DiscoverAgentsPayload,
  },
} as const;
export type DiscoverAgentsMessage = BaseMessage & Static<typeof DiscoverAgentsPart>;

export const AgentAnnouncementPart = {
  properties: {
    message_type: { const: 'agent_announcement' },
    sender_id: { const: REGISTRY },
    correlation_id: AnsweredId,
    payload: AgentAnnouncementPayload,
  },
  required: ['correlation_id'],
} as const;
export type AgentAnnouncementMessage = BaseMessage & Static<typeof AgentAnnouncementPart>;

export const GoodbyePart = {
  properties: {
    message_type: { const: 'goodbye' },
    correlation_id: NothingAnswered,
    payload: GoodbyePayload,
  },
} as const;
export type GoodbyeMessage = BaseMessage & Static<typeof GoodbyePart>;

/** A message that proves its sender; any type can. */
export const AuthenticatedPart = { required: ['auth'], properties: { auth: AuthenticationTag } } as const;
export type AuthenticatedMessage = A2AMessage & { auth: AuthenticationTag };
