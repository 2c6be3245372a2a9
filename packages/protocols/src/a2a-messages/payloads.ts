import { OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';
import { AgentCard } from './agent-card.ts';
import { DateTime, ErrorCode, SemanticVersion } from './fields.ts';

// The content of each message type, in the order of the spec.

export const RequestPayload = {
  type: 'object',
  required: ['method'],
  properties: {
    method: {
      type: 'string',
      description: 'What to do.',
      minLength: 1,
      maxLength: 128,
      examples: ['get_price', 'upload_report', 'create_project'],
    },
    parameters: { ...OpaqueObject, description: 'The parameters of the method.' },
  },
  additionalProperties: false,
} as const;
export type RequestPayload = Static<typeof RequestPayload>;

export const SuccessPayload = {
  type: 'object',
  required: ['status', 'data'],
  properties: {
    status: { const: 'success' },
    data: { ...OpaqueObject, description: 'The result.' },
  },
  additionalProperties: false,
} as const;
export type SuccessPayload = Static<typeof SuccessPayload>;

/** The spec leaves this error open, unlike the one of an `error` message. */
export const ErrorPayload = {
  type: 'object',
  required: ['status', 'error'],
  properties: {
    status: { const: 'error' },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: ErrorCode,
        message: { type: 'string', minLength: 1 },
        details: OpaqueObject,
        retry_after: { type: 'integer', minimum: 0, description: 'Seconds to wait before trying again.' },
        documentation_url: { type: 'string', format: 'uri' },
      },
    },
  },
  additionalProperties: false,
} as const;
export type ErrorPayload = Static<typeof ErrorPayload>;

/** One of two closed records, so that a success cannot carry an error beside its data. */
export const ResponsePayload = { anyOf: [SuccessPayload, ErrorPayload] } as const;
export type ResponsePayload = Static<typeof ResponsePayload>;

export const PAYLOAD_STATUSES = [SuccessPayload.properties.status.const, ErrorPayload.properties.status.const] as const;

export const HandshakePayload = {
  type: 'object',
  required: ['agent_card'],
  properties: { agent_card: AgentCard },
  additionalProperties: false,
} as const;
export type HandshakePayload = Static<typeof HandshakePayload>;

/** The spec names this type without a schema: the answering side's card, and what was agreed. */
export const HandshakeAckPayload = {
  type: 'object',
  required: ['agent_card'],
  properties: {
    agent_card: AgentCard,
    negotiated_protocol: { type: 'string', description: 'The protocol both speak from now on, such as A2A/1.0.' },
    negotiated_schema_version: { ...SemanticVersion, description: 'The version of these schemas both speak.' },
    session_id: { type: 'string', minLength: 1, maxLength: 128 },
    accepted: { type: 'boolean', description: 'False refuses the connection; without it, it is accepted.' },
    reason: { type: 'string', maxLength: 500, description: 'Why it was refused.' },
  },
  additionalProperties: false,
} as const;
export type HandshakeAckPayload = Static<typeof HandshakeAckPayload>;

export const ErrorMessagePayload = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: ErrorCode,
        message: { type: 'string', minLength: 1, maxLength: 500 },
        details: { ...OpaqueObject, description: 'Context that helps to understand it.' },
        retry_after: { type: 'integer', minimum: 0, description: 'Seconds to wait before trying again.' },
        documentation_url: { type: 'string', format: 'uri' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;
export type ErrorMessagePayload = Static<typeof ErrorMessagePayload>;

export const DiscoverAgentsPayload = {
  type: 'object',
  properties: {
    capabilities: {
      type: 'array',
      items: { type: 'string' },
      description: 'The capabilities that an agent must have, all of them.',
    },
    filters: {
      type: 'object',
      properties: {
        // The spec's Pydantic model defaults to `all`; its registry lists only healthy agents, which is the useful
        // default.
        status: { enum: ['healthy', 'unhealthy', 'all'], description: 'Without it: healthy.' },
        max_results: { type: 'integer', minimum: 1, maximum: 100, description: 'Without it: 100.' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;
export type DiscoverAgentsPayload = Static<typeof DiscoverAgentsPayload>;

/** The default filters of a query. */
export const DISCOVERY_DEFAULTS = { status: 'healthy', max_results: 100 } as const;

export const AgentInfo = {
  type: 'object',
  required: ['agent_id', 'name', 'capabilities', 'status', 'endpoint'],
  properties: {
    agent_id: { type: 'string' },
    name: { type: 'string' },
    capabilities: { type: 'array', items: { type: 'string' } },
    status: { enum: ['healthy', 'unhealthy'] },
    endpoint: { type: 'string', format: 'uri' },
    last_heartbeat: DateTime,
  },
} as const;
export type AgentInfo = Static<typeof AgentInfo>;

export const AgentAnnouncementPayload = {
  type: 'object',
  required: ['agents', 'total_count'],
  properties: {
    agents: { type: 'array', items: AgentInfo },
    total_count: { type: 'integer', minimum: 0, description: 'How many agents match, listed here or not.' },
    query_time_ms: { type: 'number', minimum: 0 },
  },
  additionalProperties: false,
} as const;
export type AgentAnnouncementPayload = Static<typeof AgentAnnouncementPayload>;

/** The spec names this type without a schema: empty, or with a reason. */
export const GoodbyePayload = {
  type: 'object',
  properties: { reason: { type: 'string', maxLength: 500 } },
  additionalProperties: false,
} as const;
export type GoodbyePayload = Static<typeof GoodbyePayload>;
