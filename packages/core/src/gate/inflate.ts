import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { show } from '@dragoman/protocols';
import { failureOf, Refused } from '../refusals/refused.ts';
import { excessive, tooLarge } from './gate-failure.ts';
import type { GateLimits } from './limits.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** The limits of an inflated body. */
export interface Unpacking {
  readonly maxBytes: number;
  /** Beyond `unpacked_free_bytes`, a body may be at most `unpacked_ratio` times as long as before. */
  readonly limits: Pick<GateLimits, 'unpacked_ratio' | 'unpacked_free_bytes'>;
}

/** Decodes the content coding of a body. Reading it throws if it exceeds a limit or cannot be decoded. */
export function inflated(body: Bytes, coding: string | undefined, unpacking: Unpacking): Bytes {
  const name = (coding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return bounded(body, unpacking.maxBytes);
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (decoder === undefined) return unreadable(body, name);
  return decoded(body, decoder(), unpacking);
}

/** Throws at the first chunk, because an empty body need not be decoded. */
async function* unreadable(body: Bytes, coding: string): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const _ of body) {
    throw new Refused(excessive(`its content coding ${show(coding.slice(0, 40))} is unknown`));
  }
}

async function* bounded(body: Bytes, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Refused(tooLarge(maxBytes));
    yield chunk;
  }
}

/** Counts the decoded bytes as they arrive, because a few hundred bytes can decode to hundreds of megabytes. */
async function* decoded(
  body: Bytes,
  decoder: Transform,
  { maxBytes, limits: { unpacked_ratio: ratio, unpacked_free_bytes: free } }: Unpacking,
): AsyncGenerator<Uint8Array, void, undefined> {
  let packed = 0;
  const counted = async function* () {
    for await (const chunk of body) {
      packed += chunk.length;
      yield chunk;
    }
  };
  const source = Readable.from(counted(), { objectMode: true, highWaterMark: 1 });
  source.once('error', (error) => decoder.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of source.pipe(decoder)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Refused(tooLarge(maxBytes));
      if (bytes > free && bytes > ratio * packed) {
        throw new Refused(excessive(`it unpacks to more than ${ratio} times its size`));
      }
      yield chunk;
    }
  } catch (error) {
    if (failureOf(error) !== undefined || !isDecoderError(error)) throw error;
    throw new Refused(excessive('its compression is invalid'));
  } finally {
    source.destroy();
    decoder.destroy();
  }
}

function isDecoderError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(Z_|ERR__?|BR)/i.test(String(error.code));
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
