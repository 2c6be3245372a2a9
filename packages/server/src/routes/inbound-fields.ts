import type { Principal } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import type { InboundRequest } from '../http/route.ts';

/** The caller, on a route that requires one. */
export function callerOf({ principal }: InboundRequest): Principal {
  if (principal === undefined) throw new Error('an agent route was reached without a caller');
  return principal;
}

/** `?after=N`, or the `Last-Event-ID` an SSE client sends by itself when it reconnects. */
export function afterOf({ query, headers }: InboundRequest): number | Failure {
  const text = query.get('after') ?? headers['last-event-id'] ?? '-1';
  if (typeof text === 'string' && /^(?:-1|\d{1,15})$/.test(text)) return Number(text);
  const message = `after must be the sequence of a frame, or -1 for all; got ${JSON.stringify(text)}`;
  return failure('invalid_message', { issues: [{ pointer: '/after', code: 'type', message }] }, message);
}

/** The caller's own name for the request, so that a repeat is recognized. */
export function idempotencyKeyOf({ headers }: InboundRequest): string | undefined | Failure {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = 'Idempotency-Key must be 1 to 255 visible characters.';
  return failure('invalid_message', { issues: [{ pointer: '', code: 'pattern', message }] }, message);
}
