import type { Failure } from '@dragoman/protocols';
import type { ApiRequest } from '../workflow/effects.ts';

/**
 * Milliseconds to wait before the next try. Up to 10 % of jitter is added, so that clients that failed together do not
 * retry together; `LONGEST_MS` includes it. A wait that the peer requested is honoured in full.
 */
export function delayBefore(
  failures: number,
  { random, retryAfterMs = 0 }: { random: number; retryAfterMs?: number },
): number {
  const plain = FIRST_MS * 2 ** (failures - 1);
  return Math.max(retryAfterMs, Math.min(LONGEST_MS, plain * (1 + random / 10)));
}

/**
 * Whether repeating the request has no further effect: by its method (RFC 9110 §9.2.2), or because of its idempotency
 * key.
 */
export function isIdempotent({ method, headers, idempotencyKey, idempotent }: ApiRequest): boolean {
  if (method === 'GET' || method === 'PUT' || method === 'DELETE' || idempotent === true) return true;
  return idempotencyKey !== undefined || hasIdempotencyKey(headers);
}

/** Whether the caller's headers already contain an idempotency key. */
export function hasIdempotencyKey(headers: ApiRequest['headers']): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');
}

/** A2E, Retryable Errors: 408, 429 and 5xx, except 501, which does not change on a retry. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** RFC 6585 §4: a request that was rejected with 429 was not processed, so any request may be sent again. */
export function isRefusedForNow(status: number): boolean {
  return status === 429;
}

/** Whether the request had been sent when it failed. Assumed if the failure does not report it. */
export function hadLeft({ details }: Failure): boolean {
  return details['sent'] !== false;
}

/** A2E, Retry Logic: three retries, after 1, 2 and 4 seconds. */
export const MOST_RETRIES = 3;
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
