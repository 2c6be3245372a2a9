import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * A long text as consecutive parts of UTF-8. As a string it would be in the heap of the main thread, where copying and garbage
 * collection would delay all requests.
 */
export interface LongText {
  readonly parts: readonly Uint8Array[];
}

/** A text in memory, between two other texts. */
export function longBetween(head: string, bytes: Uint8Array, tail: string): LongText {
  return { parts: [Buffer.from(head), bytes, Buffer.from(tail)] };
}

/** UTF-8 in memory that threads share without a copy. */
export function sharedBytes(text: string): Uint8Array {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return bytes;
}

/** The length in bytes. */
export function lengthOf({ parts }: LongText): number {
  return parts.reduce((total, part) => total + part.byteLength, 0);
}

/** The bytes, in slices. */
export async function* slicesOf({ parts }: LongText): AsyncGenerator<Uint8Array, void, undefined> {
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; at += SLICE) yield part.subarray(at, at + SLICE);
  }
}

/** The text as a string. Decodes one slice in each turn of the event loop, so that it does not block other requests. */
export async function stringOf(text: string | LongText): Promise<string> {
  if (typeof text === 'string') return text;
  let whole = '';
  for (const part of text.parts) {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    for (let at = 0; at < bytes.length; ) {
      if (whole.length > 0) await nextTurn();
      const end = wholeCharacters(bytes, at + SLICE);
      whole += bytes.toString('utf8', at, end);
      at = end;
    }
  }
  return whole;
}

/** The last position up to `at` that is not inside a character. */
function wholeCharacters(bytes: Buffer, at: number): number {
  if (at >= bytes.length) return bytes.length;
  let end = at;
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  return end;
}

/** Bytes that take about half a millisecond. A shorter text is handled in one piece. */
export const SLICE = 524_288;
