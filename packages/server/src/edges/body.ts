import type { IncomingMessage } from 'node:http';
import type { Clock } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import type { RouteBody } from '../route.ts';

/** Whether bytes follow the headers. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Refuses, from the headers alone, a body that the route would not take. */
export function refuseBody(request: IncomingMessage, body: RouteBody | undefined): Failure | undefined {
  const { headers } = request;
  if (body === undefined) return NO_BODY_TAKEN;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return ENCODED;
  if (!isType(headers['content-type'], body.contentTypes)) return wrongType(body.contentTypes);
  const length = headers['content-length'];
  return length !== undefined && Number(length) > body.maxBytes ? tooLarge(body.maxBytes) : undefined;
}

/** The whole body, a failure as soon as it grows past the limit, or `undefined` when the peer goes before its end. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | Failure | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      request.off('data', take).pause();
      resolve(tooLarge(maxBytes));
    };
    // The first to come decides. Every request is closed at last, and to settle a promise twice is told to Node, at some cost.
    let isOver = false;
    const giveUp = () => {
      if (!isOver) resolve(undefined);
    };
    if (request.destroyed) giveUp();
    request
      .on('data', take)
      .on('end', () => {
        isOver = true;
        resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size));
      })
      .on('close', giveUp)
      .on('error', giveUp);
  });
}

/**
 * Reads on for a little after the answer has been written, and throws it away. A socket closed with unread bytes is
 * reset, and a reset can overtake the answer: the peer would see a broken connection instead of why it was refused.
 */
export function discardBody(request: IncomingMessage, limit: DiscardLimit): Promise<void> {
  return new Promise((resolve) => {
    const timer = new AbortController();
    let size = 0;
    const stop = () => {
      request.off('data', count).off('end', stop).off('close', stop);
      request.pause();
      timer.abort();
      resolve();
    };
    const count = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit.bytes) stop();
    };
    request.on('error', ignore).on('data', count).on('end', stop).on('close', stop).resume();
    limit.clock.wait(limit.ms, timer.signal).then(stop, ignore);
  });
}

export interface DiscardLimit {
  readonly clock: Clock;
  readonly bytes: number;
  readonly ms: number;
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

function tooLarge(maxBytes: number): Failure {
  return failure('too_large', { limit: maxBytes }, `The body is larger than the ${maxBytes} bytes this route takes.`);
}

function ignore(): void {}

const NO_BODY_TAKEN = failure('unsupported_media_type', {}, 'This route takes no body.');
const ENCODED = failure('unsupported_media_type', {}, 'Bodies are taken without Content-Encoding only.');
