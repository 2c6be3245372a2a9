import { lengthOf, slicesOf, type UnreadAccount } from '@dragoman/core';
import type { Answer } from '../http/route.ts';
import { LONG, type ResponseWriter } from './response-writer.ts';

/**
 * Writes an answer: one body with its length, or a stream pulled no faster than the peer reads. What is not over at once
 * is promised. Throws before the first byte when the answer cannot be written.
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
  /** Further fields, name and value in turn. */
  readonly fields: readonly string[];
  /** Seconds, for 429 and 503. */
  readonly retryAfter: number | undefined;
  /** A body is neither wanted nor written. */
  readonly isHeadOnly: boolean;
  /** Counts the bytes that the peer has not read; given back when the answer is over. */
  readonly unread?: () => UnreadAccount;
  /** Held between the last byte of the answer and its end. */
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

/** Pulls a chunk, writes it, waits until the socket has taken it, and lets the source go as soon as the peer does. */
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
  // Its own function, so that nothing refers to a chunk while the peer has yet to read it.
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

/** The bytes that the socket has not accepted, or the reason for their end. */
type Written = number | 'done' | 'gone';

function release(iterator: AsyncIterator<string | Uint8Array>): void {
  iterator.return?.().then(ignore, ignore);
}

function ignore(): void {}

const NO_HEADERS: NonNullable<Answer['headers']> = {};
