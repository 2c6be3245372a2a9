import { parseUrl } from './platform.ts';
import { parseTimestamp } from './time.ts';

/** The string formats our schemas use, checked for real: validators skip `format` unless told how. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => parseTimestamp(text) !== undefined,
  uri: (text) => ABSOLUTE_URI.test(text) && parseUrl(text) !== undefined,
};

/** RFC 3986: a scheme, and only characters a URI may hold. */
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
