import { failure, show } from '@dragoman/protocols';
import { Refused } from '../refused.ts';
import type { OutboundRequest } from './gate.ts';
import type { GateLimits } from './limits.ts';

type Fields = readonly (readonly [name: string, value: string])[];

/** The headers that go out, names and values in turn. Throws `Refused` for what a caller may not say. */
export function outboundHeaders(fields: Fields, body: OutboundRequest['body'], limits: GateLimits): string[] {
  const { sent_header_fields: mostFields, sent_header_bytes: mostBytes } = limits;
  if (fields.length > mostFields) throw invalid('', `must be at most ${mostFields} fields; got ${fields.length}`);
  const out: string[] = [];
  const given: string[] = [];
  let bytes = 0;
  for (const [name, value] of fields) {
    const folded = name.toLowerCase();
    bytes += name.length + value.length;
    const fault = fieldFault(name, value);
    if (fault !== undefined) throw invalid(name, fault);
    if (given.includes(folded)) throw invalid(name, 'must be given once');
    given.push(folded);
    out.push(name, value);
  }
  if (bytes > mostBytes) throw invalid('', `must be at most ${mostBytes} bytes; got ${bytes}`);
  if (!given.includes('user-agent')) out.push('user-agent', 'dragoman');
  if (body !== undefined && 'json' in body && !given.includes('content-type'))
    out.push('content-type', 'application/json');
  return out;
}

/** Why a header may not be sent, worded to follow its name; `undefined` when it may. What frames or routes a message is ours to write. */
export function fieldFault(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'must be named with letters, digits and hyphens';
  if (isOurs(name.toLowerCase())) return 'must not be given: it belongs to the connection';
  // The value is never shown: it may hold a secret.
  return FIELD_VALUE.test(value) ? undefined : 'must have a value of visible characters on one line';
}

function isOurs(name: string): boolean {
  return CONNECTION_FIELDS.has(name) || CONNECTION_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function invalid(name: string, what: string): Refused {
  const message = name === '' ? `headers ${what}` : `header ${show(name.slice(0, 100))} ${what}`;
  const issues = [{ pointer: '/headers', code: 'header', message }];
  return new Refused(failure('invalid_message', { issues }, `${message}.`));
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
