import { AgentId, FRESHNESS_WINDOW } from '@dragoman/protocols/a2a-messages';

/** `messages:` of the configuration. */
export const MessagesShape = {
  type: 'object',
  description: 'A2A messages at /a2a/messages, and the registry of agents.',
  properties: {
    require_signatures: {
      type: 'boolean',
      description: 'Whether every message must be signed. Default: only if other machines can connect.',
    },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: 'A TCP port for the same messages, one per line; 0 picks a free port. Default: none.',
    },
    agent_id: { ...AgentId, default: 'dragoman', description: 'The agent id of this server.' },
    tools_agent: {
      ...AgentId,
      description: 'Deprecated: use the recipient `tools`, which every server has. Another name for that target.',
    },
    unproven_per_minute: {
      type: 'integer',
      minimum: 1,
      default: 120,
      description:
        'Messages and keys per minute from one address that fail authentication; further ones are rejected unread.',
    },
    max_age_ms: {
      type: 'integer',
      minimum: 1000,
      maximum: 86_400_000,
      default: FRESHNESS_WINDOW.past,
      description: 'The oldest message to accept.',
    },
    max_ahead_ms: {
      type: 'integer',
      minimum: 0,
      maximum: 3_600_000,
      default: FRESHNESS_WINDOW.future,
      description: 'Maximum time by which a message may be ahead of the clock of the server.',
    },
    max_nonces: {
      type: 'integer',
      minimum: 100,
      default: 1_000_000,
      description: 'Number of signed messages remembered to prevent replays; further ones are rejected.',
    },
    url: {
      type: 'string',
      pattern: '^https?://',
      description: 'Its public URL, for the registry and the card. Default: mailbox.url.',
    },
  },
  additionalProperties: false,
} as const;
