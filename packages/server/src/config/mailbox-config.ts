import {
  type AnonymousQuotaSettings,
  anonymousPrincipal,
  type Filled,
  isAnonymousOwner,
  type MailboxSettings,
  type OutboxSettings,
  type Principal,
} from '@dragoman/core';
import { AGENT_ID_PATTERN, type ContentLimits, MAILBOX_LIMITS } from '@dragoman/protocols/a2a-mailbox';

const text = { type: 'string', minLength: 1, maxLength: 500 } as const;
const positive = { type: 'integer', minimum: 1 } as const;

/** `mailbox:` of the configuration. */
export const MailboxShape = {
  type: 'object',
  description: 'The A2A mailbox at /a2a.',
  properties: {
    name: {
      ...text,
      default: 'Dragoman',
      description: 'The name of the mailbox, which answers messages without a recipient.',
    },
    agentId: { type: ['string', 'null'], pattern: AGENT_ID_PATTERN, default: null, description: 'Its ERC-8004 id.' },
    description: {
      ...text,
      default: 'A mailbox for agents, served by Dragoman.',
      description: 'One sentence for its card.',
    },
    url: { type: 'string', pattern: '^https?://', description: 'Its public URL, for its card.' },
    iconUrl: { type: 'string', pattern: '^https?://', description: 'The URL of its icon, for its card.' },
    provider: {
      type: 'object',
      description: 'The operator, for the card.',
      required: ['organization', 'url'],
      properties: { organization: text, url: { type: 'string', pattern: '^https?://' } },
      additionalProperties: false,
    },
    supportedTrust: {
      type: 'array',
      items: text,
      description:
        'The trust models it supports, as ERC-8004 names them: reputation, crypto-economic, tee-attestation.',
    },
    active: { type: 'boolean', description: 'Whether its registration is active. Default: true.' },
    anonymous: {
      description:
        'Ids of the agents that senders without a key may write to. Agents that registered themselves are never included. Default: [] (none). false means [].',
      anyOf: [{ type: 'array', items: text }, { type: 'boolean' }],
    },
    anonymous_bytes: {
      type: 'integer',
      minimum: 65_536,
      default: 64 * 1024 * 1024,
      description:
        'Maximum bytes on disk for messages of all senders without a key and their answers; the oldest are removed first.',
    },
    anonymous_keep_hours: {
      ...positive,
      default: 6,
      description: 'How long messages of senders without a key and their answers are kept.',
    },
    requests_per_minute: {
      ...positive,
      default: 30,
      description: 'Messages per minute of one agent, or of all senders without a key at one address.',
    },
    max_concurrent: { ...positive, default: 10, description: 'Concurrent requests of one agent.' },
    answer_within_ms: {
      type: 'integer',
      minimum: 0,
      default: 10_000,
      description: 'How long a sender without a callback waits before it gets an acknowledgement.',
    },
    hold_seconds: {
      ...positive,
      default: 3600,
      description:
        'How long a message without expiresAt waits for an agent that is not connected, if its sender has a key or a callback.',
    },
    max_content_characters: {
      type: 'integer',
      minimum: 100,
      maximum: 1_048_576,
      default: MAILBOX_LIMITS.contentCharacters,
      description: 'The longest content of a message, in UTF-16 code units. max_content_bytes applies too.',
    },
    max_content_bytes: {
      type: 'integer',
      minimum: 100,
      maximum: 1_048_576,
      default: MAILBOX_LIMITS.contentBytes,
      description: 'The same in bytes.',
    },
    thread_messages: { ...positive, default: 1000, description: 'Maximum number of messages of a thread.' },
    keep_threads_days: { ...positive, default: 30, description: 'How long the messages of a thread are kept.' },
    callbacks: {
      type: 'object',
      default: {},
      properties: {
        timeout_ms: { ...positive, default: 10_000, description: 'The timeout of one attempt.' },
        retries: { type: 'integer', minimum: 0, maximum: 10, default: 3, description: 'Attempts after the first.' },
        backoff_ms: {
          ...positive,
          default: 1000,
          description:
            'The first pause between attempts; later pauses are 4 and 16 times as long. Each gets up to 100 % random jitter.',
        },
        max_retry_after_ms: {
          ...positive,
          default: 3_600_000,
          description: 'The longest Retry-After to honour.',
        },
        per_host: {
          ...positive,
          default: 4,
          description: 'Concurrent attempts to one host, on all ports together.',
        },
        queued_per_agent: { ...positive, default: 1000, description: 'Callbacks of one sender that may wait.' },
        anonymous_per_host_per_minute: {
          ...positive,
          default: 30,
          description: 'Callbacks per minute to one host from all senders without a key together.',
        },
        keep_days: { ...positive, default: 7, description: 'How long delivered and failed callbacks are kept.' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;
export type MailboxConfig = Filled<typeof MailboxShape>;

export function mailboxSettings(config: MailboxConfig): MailboxSettings {
  return {
    answerWithinMs: config.answer_within_ms,
    holdMs: config.hold_seconds * 1000,
    threadMessages: config.thread_messages,
    keepThreadsMs: config.keep_threads_days * ONE_DAY,
  };
}

export function anonymousQuotaSettings(config: MailboxConfig): AnonymousQuotaSettings {
  return {
    bytes: config.anonymous_bytes,
    keepMs: config.anonymous_keep_hours * ONE_HOUR,
  };
}

/** The limits for every sender, which are public. */
export interface MailboxTerms {
  readonly perMinute: number;
  readonly maxConcurrent: number;
  /** For one attempt to deliver a callback. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly content: ContentLimits;
}

export function mailboxTerms(config: MailboxConfig): MailboxTerms {
  const { callbacks } = config;
  return {
    perMinute: config.requests_per_minute,
    maxConcurrent: config.max_concurrent,
    timeoutMs: callbacks.timeout_ms,
    retries: callbacks.retries,
    content: { contentCharacters: config.max_content_characters, contentBytes: config.max_content_bytes },
  };
}

export function outboxSettings({ callbacks }: MailboxConfig): Partial<OutboxSettings> {
  return {
    timeoutMs: callbacks.timeout_ms,
    retries: callbacks.retries,
    backoffMs: callbacks.backoff_ms,
    longestMs: callbacks.max_retry_after_ms,
    perHost: callbacks.per_host,
    keepMs: callbacks.keep_days * ONE_DAY,
  };
}

/** The agents that senders without a key may write to, by id. */
export function anonymousAgents({ anonymous }: MailboxConfig): readonly string[] {
  return Array.isArray(anonymous) ? anonymous : [];
}

/**
 * The principal of a sender without a key; `undefined` for any other owner. It may write to the listed agents that this
 * server runs, but not to an agent that registered itself under a listed id.
 */
export function anonymousSender(
  config: MailboxConfig,
  owner: string,
  hosted: { has(agentId: string): boolean },
): Principal | undefined {
  if (!isAnonymousOwner(owner)) return undefined;
  return anonymousPrincipal(
    owner,
    anonymousAgents(config).filter((id) => hosted.has(id)),
  );
}

const ONE_HOUR = 3600 * 1000;
const ONE_DAY = 24 * ONE_HOUR;
