import { parseUrl } from './platform.ts';
import { isTimestamp, isUtcTimestamp, UTC_TIMESTAMP } from './time.ts';

/** The string formats of our schemas; validators skip `format` by default. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isTimestamp,
  'utc-date-time': isUtcTimestamp,
  uri: (text) => PLAIN_URL.test(text) || (ABSOLUTE_URI.test(text) && parseUrl(text) !== undefined),
};

/** A format and a pattern that are checked together. */
export const UTC_DATE_TIME = { format: 'date-time', pattern: UTC_TIMESTAMP, together: 'utc-date-time' } as const;

/**
 * Common URLs, which are accepted without parsing. The last label starts with a letter, so the host is not an IP
 * address, and without two hyphens in a row no label is in punycode.
 */
const PLAIN_URL =
  /^https?:\/\/(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z][a-z0-9]+(?::\d{1,4})?(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*)?$/;

/** RFC 3986: a scheme, and only characters allowed in a URI. */
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
