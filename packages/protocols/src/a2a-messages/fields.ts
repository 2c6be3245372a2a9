import type { Static } from '../static.ts';
import { UTC_TIMESTAMP } from '../time.ts';

// Shapes shared by several A2A messages. The patterns are the spec's. Some of its examples violate them; the patterns
// take precedence.

export const UUID_V4 = '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$';

export const MessageId = {
  type: 'string',
  description: 'The unique id of this message: a version 4 UUID in lower case.',
  pattern: UUID_V4,
  examples: ['a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40'],
} as const;

/** The message that this one answers. Each type decides whether it must be an id or null. */
export const CorrelationId = {
  type: ['string', 'null'],
  description: 'The message_id of the message this one answers; null if it is not an answer.',
  pattern: UUID_V4,
} as const;

export const AnsweredId = { type: 'string', description: 'The message_id of the message this one answers.' } as const;
export const NothingAnswered = { type: 'null', description: 'A message of this type answers none.' } as const;

export const AgentId = {
  type: 'string',
  description: 'The name of an agent: letters, digits and inner hyphens.',
  minLength: 3,
  maxLength: 128,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$',
} as const;

/** An agent, or `*` for everybody. The lengths are in the pattern, because `*` is shorter than any name. */
export const RecipientId = {
  type: 'string',
  description: 'The name of the receiving agent, `registry` for the registry, or `*` for all listeners.',
  pattern: '^(?:\\*|[a-zA-Z0-9][a-zA-Z0-9-]{1,126}[a-zA-Z0-9])$',
} as const;

export const REGISTRY = 'registry';
export const EVERYBODY = '*';

/** The pattern alone would accept month 13 and hour 99, so the format is checked too. */
export const Timestamp = {
  type: 'string',
  description: 'When it was sent: RFC 3339 in UTC, with whole seconds or exactly three decimals.',
  format: 'date-time',
  pattern: UTC_TIMESTAMP,
  examples: ['2025-12-09T15:30:00.000Z'],
} as const;

export const DateTime = { type: 'string', format: 'date-time' } as const;

export const ErrorCode = {
  type: 'string',
  description: 'What went wrong, in upper case with underscores.',
  pattern: '^[A-Z][A-Z0-9_]*[A-Z0-9]$',
  examples: ['RATE_LIMIT_EXCEEDED', 'INVALID_MESSAGE'],
} as const;
export type ErrorCode = Static<typeof ErrorCode>;

/** Three numbers, nothing after them: a sibling document allows a pre-release suffix, the spec does not. */
export const SemanticVersion = { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' } as const;
