import type { Failure } from '@dragoman/protocols';
import type { ApiRequest } from '../workflow/effects.ts';

/** How often a call is tried again, and after how long (A2E, Retry Logic). */
export interface RetryPolicy {
  readonly retries: number;
  readonly firstMs: number;
  readonly factor: number;
  readonly longestMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = { retries: 3, firstMs: 1000, factor: 2, longestMs: 60_000 };

/**
 * Milliseconds to wait before trying again, after so many failures. Up to a tenth is added, so that those who failed
 * together do not come back together; the longest wait holds with it. What the peer asked for is waited for in full.
 */
export function delayBefore(
  failures: number,
  { random, retryAfterMs = 0 }: { random: number; retryAfterMs?: number },
  policy: RetryPolicy = DEFAULT_RETRY,
): number {
  const plain = policy.firstMs * policy.factor ** (failures - 1);
  return Math.max(retryAfterMs, Math.min(policy.longestMs, plain * (1 + random / 10)));
}

/** Whether a second time has no second effect: by the method (RFC 9110 §9.2.2), or because the caller says so with a key. */
export function isIdempotent({ method, headers, idempotencyKey }: ApiRequest): boolean {
  if (method === 'GET' || method === 'PUT' || method === 'DELETE') return true;
  return idempotencyKey !== undefined || Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');
}

/** A2E, Retryable Errors: 408, 429 and 5xx. Not 501: asking again will not implement it. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** Whether the request had left when it failed. What does not say so is taken to have. */
export function hadLeft({ details }: Failure): boolean {
  return details['sent'] !== false;
}
