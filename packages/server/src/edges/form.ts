import type { Answer } from '../http/route.ts';
import type { HttpRequest } from './http-request.ts';
import { lastAnswer } from './last-answer.ts';

/** Refuses requests that Node's parser accepts and another server on the way may read differently. */
export function refuseForm(request: HttpRequest, maxHeaderFields: number): Answer | undefined {
  if (request.fieldCount > maxHeaderFields) return TOO_MANY_FIELDS;
  const coding = request.headers['transfer-encoding'];
  // RFC 9112 §6.1: HTTP/1.0 has no transfer codings. In HTTP/1.1, only chunked is supported.
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || request.httpVersion !== '1.1')) return BAD_REQUEST;
  // Only the origin form is accepted: an absolute target would name a second host. Clients never send a fragment.
  const { target } = request;
  return target.startsWith('/') && !target.includes('#') ? undefined : BAD_REQUEST;
}

const BAD_REQUEST = lastAnswer('bad_request');
const TOO_MANY_FIELDS = lastAnswer('headers_too_large');
