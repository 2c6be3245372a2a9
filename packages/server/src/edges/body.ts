import type { IncomingHttpHeaders } from 'node:http';
import { type Failure, failure } from '@dragoman/protocols';
import type { RouteBody } from '../route.ts';

/** Whether bytes follow the headers. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Refuses, from the headers alone, a body that the route would not take. */
export function refuseBody(headers: IncomingHttpHeaders, body: RouteBody | undefined): Failure | undefined {
  if (body === undefined) return NO_BODY_TAKEN;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return ENCODED;
  if (!isType(headers['content-type'], body.contentTypes)) return wrongType(body.contentTypes);
  const length = headers['content-length'];
  return length !== undefined && Number(length) > body.maxBytes ? bodyTooLarge(body.maxBytes) : undefined;
}

/** The essence must be one of those taken, and text must be UTF-8. Two Content-Type fields arrive as one with a comma. */
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
  return failure('unsupported_media_type', { suggestions }, `This route takes ${taken.join(' or ')} in UTF-8.`);
}

export function bodyTooLarge(maxBytes: number): Failure {
  return failure('too_large', { limit: maxBytes }, `The body is larger than the ${maxBytes} bytes this route takes.`);
}

const NO_BODY_TAKEN = failure('unsupported_media_type', {}, 'This route takes no body.');
const ENCODED = failure('unsupported_media_type', {}, 'Bodies are taken without Content-Encoding only.');
