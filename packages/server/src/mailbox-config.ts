import {
  type AnonymousQuotaSettings,
  anonymousPrincipal,
  isAnonymous,
  type MailboxSettings,
  type OutboxSettings,
  type Principal,
} from '@dragoman/core';
import type { Static } from '@dragoman/protocols';
import { AGENT_ID_PATTERN, type ContentLimits, MAILBOX_LIMITS } from '@dragoman/protocols/a2a-mailbox';

const text = { type: 'string', minLength: 1, maxLength: 500 } as const;
const positive = { type: 'integer', minimum: 1 } as const;

/** `mailbox:` of the configuration. */
export const MailboxShape = {
  type: 'object',
  description: 'The A2A mailbox at /a2a.',
  properties: {
    name: { ...text, description: 'Who answers what is sent to nobody in particular; Dragoman unless told.' },
    agentId: { type: ['string', 'null'], pattern: AGENT_ID_PATTERN, description: 'Its ERC-8004 id.' },
    description: { ...text, description: 'One sentence for its card.' },
    url: { type: 'string', pattern: '^https?://', description: 'Where it is reached from outside, for its card.' },
    iconUrl: { type: 'string', pattern: '^https?://', description: 'A picture of it, for its card.' },
    provider: {
      type: 'object',
      description: 'Who runs it, for its card.',
      required: ['organization', 'url'],
      properties: { organization: text, url: { type: 'string', pattern: '^https?://' } },
      additionalProperties: false,
    },
    supportedTrust: {
      type: 'array',
      items: text,
      description:
        'How others may come to trust it, in the words of ERC-8004: reputation, crypto-economic, tee-attestation.',
    },
    active: { type: 'boolean', description: 'What its registration says of it; true unless told.' },
    anonymous: {
      description:
        'Ids of the agents that senders without a key may write to. Only agents of the configuration or the administration count, never agents that registered themselves. Default: [] (none). false means [].',
      anyOf: [{ type: 'array', items: text }, { type: 'boolean' }],
    },
    anonymous_bytes: {
      type: 'integer',
      minimum: 65_536,
      description:
        'Bytes that messages of all senders without a key and their answers may take on the disk together; the oldest are removed first. Default: 67108864.',
    },
    anonymous_keep_hours: {
      ...positive,
      description: 'How long messages of senders without a key and their answers are kept. Default: 6.',
    },
    requests_per_minute: {
      ...positive,
      description: 'Messages per minute of one agent, or of all senders without a key at one address. Default: 30.',
    },
    max_concurrent: { ...positive, description: 'Requests of one agent at the same time; 10 unless told.' },
    answer_within_ms: {
      type: 'integer',
      minimum: 0,
      description: 'How long a sender without a callback waits before it gets an acknowledgement; 10,000 unless told.',
    },
    max_content_characters: {
      type: 'integer',
      minimum: 100,
      maximum: 1_048_576,
      description: `The content of a message, in UTF-16 code units; ${MAILBOX_LIMITS.contentCharacters} unless told. The first of the two limits counts.`,
    },
    max_content_bytes: {
      type: 'integer',
      minimum: 100,
      maximum: 1_048_576,
      description: `The same in bytes; ${MAILBOX_LIMITS.contentBytes} unless told.`,
    },
    thread_messages: { ...positive, description: 'Messages a thread keeps; 1,000 unless told.' },
    keep_threads_days: { ...positive, description: 'How long the messages of a thread are kept; 30 unless told.' },
    callbacks: {
      type: 'object',
      properties: {
        timeout_ms: { ...positive, description: 'For one try; 10,000 unless told.' },
        retries: { type: 'integer', minimum: 0, maximum: 10, description: 'Tries after the first; 3 unless told.' },
        backoff_ms: {
          ...positive,
          description:
            'The shortest first pause; later ones 4 and 16 times it, each with up to as much again at random. 1,000 unless told.',
        },
        max_retry_after_ms: {
          ...positive,
          description: 'The longest Retry-After that is honoured; an hour unless told.',
        },
        per_host: {
          ...positive,
          description: 'Tries to one host, whatever the port, at the same time; 4 unless told.',
        },
        queued_per_agent: { ...positive, description: 'Callbacks of one sender that may wait; 1,000 unless told.' },
        anonymous_per_host_per_minute: {
          ...positive,
          description: 'Callbacks to one host that senders without a key may ask for, all together; 30 unless told.',
        },
        keep_days: { ...positive, description: 'How long delivered and dead ones are kept to look at; 7 unless told.' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;
export type MailboxConfig = Static<typeof MailboxShape>;

export function mailboxSettings(config: MailboxConfig): MailboxSettings {
  return {
    answerWithinMs: config.answer_within_ms ?? 10_000,
    threadMessages: config.thread_messages ?? 1000,
    keepThreadsMs: (config.keep_threads_days ?? 30) * ONE_DAY,
  };
}

export function anonymousQuotaSettings(config: MailboxConfig): AnonymousQuotaSettings {
  return {
    bytes: config.anonymous_bytes ?? 64 * 1024 * 1024,
    keepMs: (config.anonymous_keep_hours ?? 6) * ONE_HOUR,
  };
}

/** What holds for every sender, and is told to whoever asks. */
export interface MailboxTerms {
  readonly perMinute: number;
  readonly maxConcurrent: number;
  /** For one try of a callback. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly content: ContentLimits;
}

export function mailboxTerms(config: MailboxConfig): MailboxTerms {
  const { requests_per_minute, max_concurrent, max_content_characters, max_content_bytes, callbacks = {} } = config;
  return {
    perMinute: requests_per_minute ?? 30,
    maxConcurrent: max_concurrent ?? 10,
    timeoutMs: callbacks.timeout_ms ?? 10_000,
    retries: callbacks.retries ?? 3,
    content: {
      contentCharacters: max_content_characters ?? MAILBOX_LIMITS.contentCharacters,
      contentBytes: max_content_bytes ?? MAILBOX_LIMITS.contentBytes,
    },
  };
}

export function outboxSettings(config: MailboxConfig): Partial<OutboxSettings> {
  const { callbacks = {} } = config;
  const { timeoutMs, retries } = mailboxTerms(config);
  return {
    timeoutMs,
    retries,
    ...(callbacks.backoff_ms !== undefined && { backoffMs: callbacks.backoff_ms }),
    ...(callbacks.max_retry_after_ms !== undefined && { longestMs: callbacks.max_retry_after_ms }),
    ...(callbacks.per_host !== undefined && { perHost: callbacks.per_host }),
    ...(callbacks.keep_days !== undefined && { keepMs: callbacks.keep_days * ONE_DAY }),
  };
}

/** The agents that senders without a key may write to, by id. */
export function anonymousAgents({ anonymous }: MailboxConfig): readonly string[] {
  return Array.isArray(anonymous) ? anonymous : [];
}

/**
 * A sender without a key; `undefined` for any other owner. It may write to the listed agents that this server runs: an agent
 * that registered itself under a listed id is not one of them.
 */
export function anonymousSender(
  config: MailboxConfig,
  owner: string,
  hosted: { has(agentId: string): boolean },
): Principal | undefined {
  if (!isAnonymous(owner)) return undefined;
  return anonymousPrincipal(
    owner,
    anonymousAgents(config).filter((id) => hosted.has(id)),
  );
}

const ONE_HOUR = 3600 * 1000;
const ONE_DAY = 24 * ONE_HOUR;
