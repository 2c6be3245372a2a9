import { lengthOf, slicesOf, type UnreadAccount } from '@dragoman/core';
import type { Answer } from '../http/route.ts';
import { LONG, type ResponseWriter } from './response-writer.ts';

/**
 * Writes an answer: one body with its length, or a stream that is pulled no faster than the peer reads. Returns a
 * promise if the answer is not written completely at once. Throws before the first byte if the answer cannot be
 * written.
 */
export function writeAnswer(response: ResponseWriter, answer: Answer, how: AnswerDelivery): Promise<void> | undefined {
  const { status } = answer;
  const fields = headerFields(answer, how);
  if (answer.stream !== undefined) {
    response.begin(status, fields);
    return pump(response, answer.stream, how);
  }
  if (answer.longText !== undefined) {
    const length = lengthOf(answer.longText);
    how.unread?.().sent(length);
    response.begin(status, [...fields, 'Content-Length', String(length)]);
    return pump(response, slicesOf(answer.longText), how);
  }
  const text = answer.json === undefined ? (answer.text ?? '') : JSON.stringify(answer.json);
  const length = Buffer.byteLength(text);
  if (status !== 204 && status !== 304) fields.push('Content-Length', String(length));
  if (length > LONG) how.unread?.().sent(length);
  if (how.beforeEnd === undefined) {
    response.writeWhole(status, fields, text, length);
    return undefined;
  }
  response.begin(status, fields);
  response.write(text);
  return how.beforeEnd().then(() => response.end());
}

export interface AnswerDelivery {
  /** The answer is for a known caller, so no cache may keep it. */
  readonly personal: boolean;
  /** Further header fields: name, value, name, value. */
  readonly fields: readonly string[];
  /** Seconds, for 429 and 503. */
  readonly retryAfter: number | undefined;
  /** The answer to `HEAD`: no body is written. */
  readonly isHeadOnly: boolean;
  /** Opens the account for the bytes that the peer has not read. Only long answers and slow peers need one. */
  readonly unread?: () => UnreadAccount;
  /** Awaited after the last byte of the answer, before the response ends. */
  readonly beforeEnd?: (() => Promise<void>) | undefined;
}

/** Names and values in turn, which Node writes unchanged. The answer's own headers override the defaults. */
export function headerFields(
  answer: Answer,
  how: Pick<AnswerDelivery, 'personal' | 'fields' | 'retryAfter'>,
): string[] {
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

/**
 * Pulls a chunk, writes it and waits until the socket has taken it. Releases the source as soon as the peer is gone.
 */
async function pump(
  response: ResponseWriter,
  stream: AsyncIterable<string | Uint8Array>,
  { isHeadOnly, unread }: AnswerDelivery,
): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]();
  let wake: () => void = ignore;
  const stay = response.whenOver(() => {
    wake();
    release(iterator);
  });
  // A function of its own, so that no variable keeps a chunk alive while the peer has yet to read it.
  const writeNext = async (): Promise<Written> => {
    const next = await new Promise<IteratorResult<string | Uint8Array> | undefined>((resolve, reject) => {
      wake = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
    wake = ignore;
    if (next === undefined || response.isGone) return 'gone';
    if (next.done === true) return 'done';
    if (next.value.length === 0 || response.write(next.value)) return 0;
    return Buffer.byteLength(next.value);
  };
  while (!response.isGone && !isHeadOnly) {
    const written = await writeNext();
    if (written === 'gone') return;
    if (written === 'done') break;
    if (written === 0) continue;
    const account = unread?.();
    account?.sent(written);
    await new Promise<void>((resolve) => {
      wake = resolve;
      response.whenDrained(resolve);
    });
    account?.read(written);
  }
  stay();
  release(iterator);
  response.end();
}

/** The bytes that the socket has not accepted, or why the stream ends. */
type Written = number | 'done' | 'gone';

function release(iterator: AsyncIterator<string | Uint8Array>): void {
  iterator.return?.().then(ignore, ignore);
}

function ignore(): void {}

const NO_HEADERS: NonNullable<Answer['headers']> = {};
