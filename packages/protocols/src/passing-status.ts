/**
 * Whether an HTTP answer may be another one later, to the same request: the request was too slow, too early (RFC 8470 §5.2) or
 * too much, or the server is at fault.
 */
export function isPassingStatus(status: number): boolean {
  return PASSING.has(status) || status >= 500;
}

const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
