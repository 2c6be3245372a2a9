/**
 * Whether the same request may succeed later: it was too slow, too early (RFC 8470 §5.2) or
 * too frequent, or the server failed.
 */
export function isPassingStatus(status: number): boolean {
  return PASSING.has(status) || status >= 500;
}

const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
