import type { ServerResponse } from 'node:http';
import { lengthOf, slicesOf } from '@dragoman/core';
import type { Answer } from '../route.ts';

/**
 * Writes an answer: one body with its length, or a stream pulled no faster than the peer reads. What is not over at once
 * is promised. Throws before the first byte when the answer cannot be written.
 */
export function writeAnswer(response: ServerResponse, answer: Answer, how: Delivery): Promise<void> | undefined {
  const fields = headerFields(answer, how);
  if (answer.stream !== undefined) {
    response.writeHead(answer.status, fields);
    // The peer should know that its stream is open before the first record is there.
    response.flushHeaders();
    return pump(response, answer.stream, how.stallMs);
  }
  if (answer.longText !== undefined) {
    response.writeHead(answer.status, [...fields, 'Content-Length', String(lengthOf(answer.longText))]);
    return pump(response, slicesOf(answer.longText), how.stallMs);
  }
  const text = answer.json === undefined ? (answer.text ?? '') : JSON.stringify(answer.json);
  const length = Buffer.byteLength(text);
  if (answer.status !== 204 && answer.status !== 304) fields.push('Content-Length', String(length));
  response.writeHead(answer.status, fields);
  if (how.beforeEnd !== undefined) {
    response.write(text);
    return how.beforeEnd().then(() => end(response, '', how));
  }
  // Still one write. But Node would put the head before the text, and with a long one that is a copy of all of it.
  if (length > LONG) {
    response.cork();
    response.flushHeaders();
  }
  // Text with a byte for each character is ASCII. Told so, Node copies it; else it makes room for three times as much.
  end(response, text, how, length === text.length ? 'latin1' : 'utf8');
  return undefined;
}

/** Ends the answer, and the patience for a peer that does not take it. */
function end(
  response: ServerResponse,
  text: string,
  { stallMs }: Pick<Delivery, 'stallMs'>,
  encoding: 'latin1' | 'utf8' = 'utf8',
): void {
  const { socket } = response;
  response.end(text, encoding);
  if (socket !== null && socket.writableLength > 0) socket.setTimeout(stallMs);
}

export interface Delivery {
  /** Who it is for is known, so no cache may keep it. */
  readonly personal: boolean;
  /** Further fields, name and value in turn. */
  readonly fields: readonly string[];
  /** Seconds, for 429 and 503. */
  readonly retryAfter: number | undefined;
  readonly stallMs: number;
  /** Held between the last byte of the answer and its end. */
  readonly beforeEnd?: (() => Promise<void>) | undefined;
}

/** Name and value in turn, which Node writes as they are. What the answer says itself wins. */
export function headerFields(answer: Answer, how: Pick<Delivery, 'personal' | 'fields' | 'retryAfter'>): string[] {
  const { status, headers = NO_HEADERS } = answer;
  const fields = ['X-Content-Type-Options', 'nosniff'];
  for (const field of how.fields) fields.push(field);
  for (const name in headers) fields.push(name, headers[name as Capitalize<string>] as string);
  if (headers['Content-Type'] === undefined) {
    if (answer.json !== undefined) fields.push('Content-Type', 'application/json');
    else if (answer.text !== undefined) fields.push('Content-Type', 'text/plain; charset=utf-8');
  }
  if (how.personal && headers['Cache-Control'] === undefined) fields.push('Cache-Control', 'no-store');
  if (status === 401 && headers['WWW-Authenticate'] === undefined) fields.push('WWW-Authenticate', 'Bearer');
  if ((status === 429 || status === 503) && headers['Retry-After'] === undefined) {
    fields.push('Retry-After', String(Math.max(1, Math.ceil(how.retryAfter ?? 1))));
  }
  return fields;
}

/** Pulls a chunk, writes it, waits until the socket has taken it, and lets the source go as soon as the peer does. */
async function pump(
  response: ServerResponse,
  stream: AsyncIterable<string | Uint8Array>,
  stallMs: number,
): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]();
  let wake: () => void = ignore;
  const onClose = () => {
    wake();
    release(iterator);
  };
  response.once('close', onClose);
  const { socket } = response;
  // `destroyed` is also how Node marks a response whose peer went before we began.
  while (!response.destroyed && response.req.method !== 'HEAD') {
    const next = await new Promise<IteratorResult<string | Uint8Array> | undefined>((resolve, reject) => {
      wake = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
    if (next === undefined || response.destroyed) return;
    if (next.done === true) break;
    if (next.value.length === 0 || response.write(next.value)) continue;
    socket?.setTimeout(stallMs);
    await new Promise<void>((resolve) => {
      wake = resolve;
      response.once('drain', resolve);
    });
    socket?.setTimeout(0);
  }
  response.off('close', onClose);
  release(iterator);
  response.end();
}

function release(iterator: AsyncIterator<string | Uint8Array>): void {
  iterator.return?.().then(ignore, ignore);
}

function ignore(): void {}

const NO_HEADERS: NonNullable<Answer['headers']> = {};
const LONG = 4096;
