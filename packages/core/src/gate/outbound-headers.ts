import { failure, show } from '@dragoman/protocols';
import { headerFault } from '../refusals/header-fault.ts';
import { Refused } from '../refusals/refused.ts';
import type { OutboundRequest } from './gate.ts';
import type { GateLimits } from './limits.ts';

type Fields = readonly (readonly [name: string, value: string])[];

/** The outbound headers, names and values in turn. Throws `Refused` for forbidden headers. */
export function outboundHeaders(fields: Fields, body: OutboundRequest['body'], limits: GateLimits): string[] {
  const { sent_header_fields: mostFields, sent_header_bytes: mostBytes } = limits;
  if (fields.length > mostFields) throw invalid('', `must be at most ${mostFields} fields; got ${fields.length}`);
  const out: string[] = [];
  const given: string[] = [];
  let bytes = 0;
  for (const [name, value] of fields) {
    const folded = name.toLowerCase();
    bytes += name.length + value.length;
    const fault = headerFault(name, value);
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

function invalid(name: string, what: string): Refused {
  const message = name === '' ? `headers ${what}` : `header ${show(name.slice(0, 100))} ${what}`;
  const issues = [{ pointer: '/headers', code: 'header', message }];
  return new Refused(failure('invalid_message', { issues }, `${message}.`));
}
