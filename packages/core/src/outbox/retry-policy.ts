/** How often a callback is tried, and how far apart. Milliseconds. */
export interface RetryPolicy {
  /** Tries after the first. */
  readonly retries: number;
  /** The longest first pause; each next one may be four times as long. */
  readonly backoffMs: number;
  /** No receiver may ask for more patience than this. */
  readonly longestMs: number;
}

/**
 * The pause before the next try; `undefined` when there is none. Anything up to the longest pause (full jitter), so that
 * ten thousand callbacks that failed together do not come back together; but not before the receiver asked for it.
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
  const longest = policy.backoffMs * 4 ** (failed - 1);
  return Math.round(Math.min(policy.longestMs, Math.max(longest * random, retryAfterMs)));
}
