/** Whether a retry may help: `yes` after a while, `maybe` after another change, or `never`. */
export type Retry = 'yes' | 'maybe' | 'never';

export interface ErrorRow {
  /** The equivalent HTTP status; some errors have none. */
  readonly http?: number;
  readonly retry: Retry;
}

/** Every error code in use: the spec's eleven, then those its sibling documents add. */
// biome-ignore format: one row a code
export const ERROR_CODES = {
  INVALID_MESSAGE: { http: 400, retry: 'never' },
  VALIDATION_FAILED: { http: 400, retry: 'never' },
  AUTHENTICATION_FAILED: { http: 401, retry: 'never' },
  FORBIDDEN: { http: 403, retry: 'never' },
  NOT_FOUND: { http: 404, retry: 'maybe' },
  METHOD_NOT_ALLOWED: { http: 405, retry: 'never' },
  RATE_LIMIT_EXCEEDED: { http: 429, retry: 'yes' },
  PAYLOAD_TOO_LARGE: { http: 413, retry: 'never' },
  INTERNAL_ERROR: { http: 500, retry: 'yes' },
  SERVICE_UNAVAILABLE: { http: 503, retry: 'yes' },
  TIMEOUT: { http: 504, retry: 'yes' },

  AUTHENTICATION_REQUIRED: { http: 401, retry: 'never' },
  CONFLICT: { http: 409, retry: 'maybe' },
  UNSUPPORTED_MEDIA_TYPE: { http: 415, retry: 'never' },
  UNPROCESSABLE_ENTITY: { http: 422, retry: 'never' },
  NOT_IMPLEMENTED: { http: 501, retry: 'never' },
  BAD_GATEWAY: { http: 502, retry: 'yes' },
  VERSION_NOT_SUPPORTED: { http: 505, retry: 'never' },
  AGENT_NOT_REGISTERED: { retry: 'maybe' },
  CAPABILITY_NOT_AVAILABLE: { retry: 'maybe' },
  SESSION_EXPIRED: { retry: 'never' },
  SESSION_INVALID: { retry: 'never' },
  NONCE_REUSED: { retry: 'never' },
  SIGNATURE_INVALID: { retry: 'never' },
  AGENT_OVERLOADED: { retry: 'yes' },
  DEPENDENCY_FAILED: { retry: 'yes' },
  STATE_CONFLICT: { retry: 'maybe' },
} as const satisfies Record<string, ErrorRow>;

export type StandardErrorCode = keyof typeof ERROR_CODES;

/** Whether to try again after an error. An agent's own code is not in the table and is not retried. */
export function retryAdvice(code: string): Retry {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as StandardErrorCode].retry : 'never';
}

/**
 * The code for an HTTP status, which the older dialect sends instead of a code; the first in the table if several fit.
 */
export function errorCodeForStatus(status: number): StandardErrorCode | undefined {
  for (const [code, row] of Object.entries<ErrorRow>(ERROR_CODES)) {
    if (row.http === status) return code as StandardErrorCode;
  }
  return undefined;
}

/**
 * The pauses between attempts in milliseconds: doubled from `base` to `cap`, each multiplied by a random factor of
 * `jitter`.
 */
export const BACKOFF = { base: 1_000, cap: 60_000, tries: 5, jitter: [0.5, 1.5] } as const;

/** When to stop calling a peer: after `failures` in a row, for `pause` milliseconds, until `successes` in a row. */
export const BREAKER = { failures: 5, pause: 60_000, successes: 2 } as const;
