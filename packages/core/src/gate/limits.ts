import type { Static } from '@dragoman/protocols';
import { withDefaults } from '../schema/with-defaults.ts';

/** The gate's own limits, from `gate:` in the configuration. Its callers limit the time and size of each answer. */
export const GATE_LIMITS = {
  connect_ms: limit({
    minimum: 100,
    default: 10_000,
    description: 'The timeout for a DNS lookup, and for a connection including TLS.',
  }),
  connections_per_origin: limit({
    minimum: 1,
    default: 64,
    description: 'Concurrent connections to one origin, for each caller and credential.',
  }),
  origins: limit({
    minimum: 1,
    default: 512,
    description: 'Origins with open connections, for each caller and credential.',
  }),
  keep_alive_ms: limit({
    minimum: 1,
    default: 4000,
    description: 'How long an idle connection is kept for the next request.',
  }),
  resolved_ms: limit({ minimum: 1, default: 2000, description: 'How long DNS results are cached.' }),
  header_bytes: limit({ minimum: 1024, default: 16_384, description: 'Maximum bytes of all response headers.' }),
  announcements: limit({
    minimum: 1,
    default: 16,
    description: 'Maximum number of interim responses (1xx) before the response.',
  }),
  unpacked_ratio: limit({
    minimum: 2,
    default: 100,
    description: 'The highest compression ratio of a response.',
  }),
  unpacked_free_bytes: limit({
    minimum: 1024,
    default: 1_048_576,
    description: 'Bytes that a response may decompress to at any compression ratio.',
  }),
  sent_header_bytes: limit({
    minimum: 1024,
    default: 16_384,
    description: 'Maximum bytes of all headers of an outbound request.',
  }),
  sent_header_fields: limit({
    minimum: 8,
    default: 64,
    description: 'Maximum number of headers of an outbound request.',
  }),
} as const;

export type GateLimits = { readonly [Name in keyof typeof GATE_LIMITS]: Static<(typeof GATE_LIMITS)[Name]> };

export const DEFAULT_GATE_LIMITS: GateLimits = withDefaults({ type: 'object', properties: GATE_LIMITS } as const, {});

function limit<const Limit extends { minimum: number; default: number; description: string }>(one: Limit) {
  return { type: 'integer', ...one } as const;
}
