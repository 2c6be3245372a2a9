import type { LimitState } from '../http/count.ts';
/**
 * Limits as header fields, name and value in turn: the widely used `X-RateLimit-*`, with the tightest limit (the
 * first), and `RateLimit` with `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), with all of them.
 */
export function rateFields(limits: readonly LimitState[], now: number): string[] {
  const [tightest] = limits;
  if (tightest === undefined) return [];
  let left = '';
  let policy = '';
  for (const { name, limit, remaining, windowSeconds, resetAt } of limits) {
    const comma = left === '' ? '' : ', ';
    left += `${comma}"${name}";r=${remaining};t=${secondsUntil(resetAt, now)}`;
    policy += `${comma}"${name}";q=${limit};w=${windowSeconds}`;
  }
  return [
    'X-RateLimit-Limit',
    String(tightest.limit),
    'X-RateLimit-Remaining',
    String(tightest.remaining),
    'X-RateLimit-Reset',
    String(Math.ceil(tightest.resetAt)),
    'RateLimit',
    left,
    'RateLimit-Policy',
    policy,
  ];
}

function secondsUntil(resetAt: number, now: number): number {
  return Math.max(0, Math.ceil(resetAt - now / 1000));
}
