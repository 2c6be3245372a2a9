import { formats } from '../formats.ts';
import { parseUrl } from '../platform.ts';
import { MAILBOX_LIMITS } from './message.ts';

/**
 * The problem with a callback URL, as advice; `undefined` if it is valid. Whether it may be called (private
 * addresses, names that resolve to them) is checked before each call.
 */
export function faultOfCallbackUrl(text: string): string | undefined {
  if (text.length > MAILBOX_LIMITS.callbackUrl) return `use at most ${MAILBOX_LIMITS.callbackUrl} characters`;
  if (PLAIN_URL.test(text) && !text.includes('xn--')) return undefined;
  if (!HTTPS.test(text)) return 'start it with https://';
  const url = formats['uri']?.(text) ? parseUrl(text) : undefined;
  if (url === undefined) return 'use a URL such as https://agent.example/a2a/responses';
  // The URL is stored, echoed in responses and shown to operators, so it must not contain a password.
  if (url.username !== '' || url.password !== '') return 'leave out the user name and password';
  // A fragment is never sent: two URLs that differ only in it would be one receiver under two names.
  if (text.includes('#')) return 'leave out the fragment';
  return undefined;
}

const HTTPS = /^https:\/\//i;
// The usual form, accepted without parsing: a name that ends in letters, a path without escapes.
const PLAIN_URL = /^https:\/\/(?:[a-z0-9-]+\.)+[a-z]{2,}(?:\/[\w./~-]*)?$/;
