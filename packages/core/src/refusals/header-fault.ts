/**
 * Why a header may not be sent, worded to follow its name; `undefined` when it may. Headers that frame or route a
 * message are written by this server only.
 */
export function headerFault(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'must be named with letters, digits and hyphens';
  if (isOurs(name.toLowerCase())) return 'must not be given: it belongs to the connection';
  // The value is never shown: it may contain a secret.
  return FIELD_VALUE.test(value) ? undefined : 'must have a value of visible characters on one line';
}

function isOurs(name: string): boolean {
  return CONNECTION_FIELDS.has(name) || CONNECTION_PREFIXES.some((prefix) => name.startsWith(prefix));
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const CONNECTION_PREFIXES = ['proxy-', 'x-forwarded-', 'sec-'];

const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'alt-used',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-real-ip',
]);
