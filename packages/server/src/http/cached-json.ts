import { hash } from 'node:crypto';
import type { JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest } from './route.ts';

/** JSON that clients may cache for a minute and then revalidate (RFC 9110 §13.1.2). */
export function cachedJson(
  { headers, principal }: InboundRequest,
  json: JsonObject,
  vary: string,
  type = 'application/json',
): Answer {
  const text = JSON.stringify(json);
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
  const fields = {
    ETag: etag,
    'Cache-Control': `${principal === undefined ? 'public' : 'private'}, max-age=60`,
    Vary: `${vary}, Authorization, X-API-Key`,
  };
  if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: fields };
  return { status: 200, headers: { 'Content-Type': type, ...fields }, text };
}

/** Weak and strong tags match alike (RFC 9110 §13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => [etag, `W/${etag}`, '*'].includes(one.trim()));
}
