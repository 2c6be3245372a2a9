import type { Static } from '@dragoman/protocols';

/** The gate's own limits, from `gate:` in the configuration. Its callers limit the time and size of each answer. */
export const GATE_LIMITS = {
  connect_ms: atLeast(
    100,
    'For a name to be looked up, and for a connection to be made, TLS included. Default: 10000.',
  ),
  connections_per_origin: atLeast(1, 'Connections at once to one origin, for each caller and credential. Default: 64.'),
  origins: atLeast(1, 'Origins, for each caller and credential, to which connections are kept. Default: 512.'),
  keep_alive_ms: atLeast(1, 'How long an idle connection is kept for the next request. Default: 4000.'),
  resolved_ms: atLeast(1, 'How long the addresses of a name are remembered. Default: 2000.'),
  header_bytes: atLeast(1024, 'All headers of an answer. Default: 16384.'),
  announcements: atLeast(1, 'Interim answers (1xx) before the answer itself. Default: 16.'),
  unpacked_ratio: atLeast(2, 'How many times its packed size an answer may unpack to. Default: 100.'),
  unpacked_free_bytes: atLeast(1024, 'What an answer may unpack to whatever its packed size. Default: 1048576.'),
  sent_header_bytes: atLeast(1024, 'All headers of a request that goes out. Default: 16384.'),
  sent_header_fields: atLeast(8, 'How many headers a request that goes out may have. Default: 64.'),
} as const;

export type GateLimits = { readonly [Name in keyof typeof GATE_LIMITS]: Static<(typeof GATE_LIMITS)[Name]> };

export const DEFAULT_GATE_LIMITS: GateLimits = {
  connect_ms: 10_000,
  connections_per_origin: 64,
  origins: 512,
  keep_alive_ms: 4000,
  resolved_ms: 2000,
  header_bytes: 16 * 1024,
  announcements: 16,
  unpacked_ratio: 100,
  unpacked_free_bytes: 1024 * 1024,
  sent_header_bytes: 16 * 1024,
  sent_header_fields: 64,
};

function atLeast<Minimum extends number>(minimum: Minimum, description: string) {
  return { type: 'integer', minimum, description } as const;
}
