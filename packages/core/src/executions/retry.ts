import type { Failure } from '@dragoman/protocols';
import type { ApiRequest } from '../workflow/effects.ts';

/**
 * Milliseconds to wait before trying again, after so many failures. Up to a tenth is added, so that those who failed
 * together do not come back together; the longest wait holds with it. What the peer asked for is waited for in full.
 */
export function delayBefore(
  failures: number,
  { random, retryAfterMs = 0 }: { random: number; retryAfterMs?: number },
): number {
  const plain = FIRST_MS * 2 ** (failures - 1);
  return Math.max(retryAfterMs, Math.min(LONGEST_MS, plain * (1 + random / 10)));
}

/** Whether a second time has no second effect: by the method (RFC 9110 §9.2.2), or because the caller says so. */
export function isIdempotent({ method, headers, idempotencyKey, idempotent }: ApiRequest): boolean {
  if (method === 'GET' || method === 'PUT' || method === 'DELETE' || idempotent === true) return true;
  return idempotencyKey !== undefined || hasIdempotencyKey(headers);
}

/** Whether the caller has written the key as a header itself. */
export function hasIdempotencyKey(headers: ApiRequest['headers']): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');
}

/** A2E, Retryable Errors: of 4xx only 408 and 429, so not 425; and 5xx. Not 501: asking again will not implement it. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** RFC 6585 §4: what was too much was not processed, so it may be sent again whatever it is. */
export function isRefusedForNow(status: number): boolean {
  return status === 429;
}

/** Whether the request had left when it failed. What does not say so is taken to have. */
export function hadLeft({ details }: Failure): boolean {
  return details['sent'] !== false;
}

/** A2E, Retry Logic: three more tries, after 1, 2 and 4 seconds. */
export const MOST_RETRIES = 3;
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
