/** The milliseconds from now that a `Retry-After` field asks to wait: it has seconds or a date (RFC 9110 §10.2.3). */
export function retryAfterMs(field: unknown, now: Date): number | undefined {
  if (typeof field !== 'string') return undefined;
  // Any number of digits: a very long pause must not become none.
  if (/^\d+$/.test(field)) return Math.min(Number(field), LONGEST_SECONDS) * 1000;
  // `Date.parse` alone would take "1.5" for a day in January.
  const at = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(field) ? Date.parse(field) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

/** The longest pause in seconds; in milliseconds it is still a safe integer. */
const LONGEST_SECONDS = 1e12;
