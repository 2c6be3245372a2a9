/** What a `Retry-After` field asks for: seconds, or a date (RFC 9110 §10.2.3). In milliseconds from now. */
export function retryAfterMs(field: unknown, now: Date): number | undefined {
  if (typeof field !== 'string') return undefined;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000;
  const at = Date.parse(field);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
