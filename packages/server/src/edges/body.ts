import type { IncomingHttpHeaders } from 'node:http';
import { type Failure, failure } from '@dragoman/protocols';
import type { RouteBody } from '../http/route.ts';

/** Whether the request has a body. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** How much of a body is read before anything in it is checked. */
export function firstLimit({ maxBytes }: RouteBody, unprovenBytes: number | undefined): number {
  return Math.min(maxBytes, unprovenBytes ?? maxBytes);
}

/**
 * Refuses a body that the route does not accept, by the headers alone. `unprovenBytes` is the limit for a sender
 * without a proven identity.
 */
export function refuseBody(
  headers: IncomingHttpHeaders,
  body: RouteBody | undefined,
  unprovenBytes: number | undefined,
): Failure | undefined {
  if (body === undefined) return NO_BODY_TAKEN;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return ENCODED;
  if (!isType(headers['content-type'], body.contentTypes)) return wrongType(body.contentTypes);
  const length = headers['content-length'];
  // A proof at the beginning of the body can raise the limit of an unproven sender.
  const most = body.proof === undefined ? firstLimit(body, unprovenBytes) : body.maxBytes;
  return length !== undefined && Number(length) > most ? bodyTooLarge(body, unprovenBytes) : undefined;
}

/**
 * Whether the content type is accepted, with UTF-8 as its only possible charset. Two Content-Type fields arrive as one
 * with a comma.
 */
function isType(contentType: string | undefined, taken: readonly string[]): boolean {
  if (contentType === undefined || contentType.includes(',')) return false;
  if (taken.includes(contentType)) return true;
  const [essence = '', ...parameters] = contentType.toLowerCase().split(';');
  return taken.includes(essence.trim()) && parameters.every(isHarmless);
}

function isHarmless(parameter: string): boolean {
  const [name = '', value = ''] = parameter.trim().split('=');
  return name !== 'charset' || value === 'utf-8' || value === 'utf8' || value === '"utf-8"';
}

function wrongType(taken: readonly string[]): Failure {
  const suggestions = taken.map((type) => `Content-Type: ${type}`);
  return failure('unsupported_media_type', { suggestions }, `This route accepts ${taken.join(' or ')} in UTF-8.`);
}

/** The failure for a body over its limit. It names the setting that raises the limit, if there is one. */
export function bodyTooLarge({ maxBytes, proof }: RouteBody, unprovenBytes: number | undefined): Failure {
  if (unprovenBytes === undefined || unprovenBytes >= maxBytes) {
    return failure('too_large', { limit: maxBytes }, `The body exceeds this route's limit of ${maxBytes} bytes.`);
  }
  const suggestions = [`Send an API key: the limit is then ${maxBytes} bytes.`];
  if (proof !== undefined) suggestions.push(proof.suggestion);
  const message = `The body exceeds this route's limit of ${unprovenBytes} bytes without an API key. ${suggestions.join(' ')}`;
  return failure('too_large', { limit: unprovenBytes, suggestions }, message);
}

/** The answer where the budget for unproven senders is used up. */
export const NO_ROOM = failure(
  'busy',
  { retry_after: 1, suggestions: ['Send an API key.'] },
  'The server has reached its limit for data from senders without a key. Try again later, or send an API key.',
);

const NO_BODY_TAKEN = failure('unsupported_media_type', {}, 'This route does not accept a body.');
const ENCODED = failure('unsupported_media_type', {}, 'Content-Encoding is not supported in requests.');
