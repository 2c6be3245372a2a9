/** How often a callback is tried, and how long the pauses are, in milliseconds. */
export interface RetryPolicy {
  /** The number of tries after the first one. */
  readonly retries: number;
  /** The shortest first pause; each next one is four times as long. */
  readonly backoffMs: number;
  /** The longest pause, including one that a receiver requests. */
  readonly longestMs: number;
}

/**
 * The pause before the next try; `undefined` after the last. It has up to 100 % jitter, so that callbacks that failed together
 * are not retried together, and is never shorter than the receiver's Retry-After.
 */
export function pauseBefore(
  policy: RetryPolicy,
  {
    failed,
    retryAfterMs = 0,
    random,
  }: { readonly failed: number; readonly retryAfterMs?: number; readonly random: number },
): number | undefined {
  if (failed > policy.retries) return undefined;
  const shortest = policy.backoffMs * 4 ** (failed - 1);
  return Math.round(Math.min(policy.longestMs, Math.max(shortest * (1 + random), retryAfterMs)));
}
