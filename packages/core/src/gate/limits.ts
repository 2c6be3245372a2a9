import type { Static } from '@dragoman/protocols';
import { withDefaults } from '../schema/with-defaults.ts';

/** The gate's own limits, from `gate:` in the configuration. Its callers limit the time and size of each answer. */
export const GATE_LIMITS = {
  connect_ms: limit({
    minimum: 100,
    default: 10_000,
    description: 'For a name to be looked up, and for a connection to be made, TLS included.',
  }),
  connections_per_origin: limit({
    minimum: 1,
    default: 64,
    description: 'Connections at once to one origin, for each caller and credential.',
  }),
  origins: limit({
    minimum: 1,
    default: 512,
    description: 'Origins, for each caller and credential, to which connections are kept.',
  }),
  keep_alive_ms: limit({
    minimum: 1,
    default: 4000,
    description: 'How long an idle connection is kept for the next request.',
  }),
  resolved_ms: limit({ minimum: 1, default: 2000, description: 'How long the addresses of a name are remembered.' }),
  header_bytes: limit({ minimum: 1024, default: 16_384, description: 'All headers of an answer.' }),
  announcements: limit({ minimum: 1, default: 16, description: 'Interim answers (1xx) before the answer itself.' }),
  unpacked_ratio: limit({
    minimum: 2,
    default: 100,
    description: 'How many times its packed size an answer may unpack to.',
  }),
  unpacked_free_bytes: limit({
    minimum: 1024,
    default: 1_048_576,
    description: 'What an answer may unpack to whatever its packed size.',
  }),
  sent_header_bytes: limit({ minimum: 1024, default: 16_384, description: 'All headers of a request that goes out.' }),
  sent_header_fields: limit({
    minimum: 8,
    default: 64,
    description: 'How many headers a request that goes out may have.',
  }),
} as const;

export type GateLimits = { readonly [Name in keyof typeof GATE_LIMITS]: Static<(typeof GATE_LIMITS)[Name]> };

export const DEFAULT_GATE_LIMITS: GateLimits = withDefaults({ type: 'object', properties: GATE_LIMITS } as const, {});

function limit<const Limit extends { minimum: number; default: number; description: string }>(one: Limit) {
  return { type: 'integer', ...one } as const;
}
