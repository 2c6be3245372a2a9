import { SLICE } from '../text/long-text.ts';
import type { InboundAnswer } from './gate.ts';

/** Reads the whole body of an answer. */
export async function wholeBody(answer: Pick<InboundAnswer, 'body' | 'whole'>): Promise<Uint8Array> {
  if (answer.whole !== undefined) return answer.whole();
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return joined(chunks);
}

/**
 * Joins chunks; a single chunk is not copied. A long result is in memory that threads share, because copying it for
 * another thread would block this one.
 */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const length = chunks.reduce((total, chunk) => total + chunk.length, 0);
  if (length <= SLICE) return Buffer.concat(chunks, length);
  const whole = Buffer.from(new SharedArrayBuffer(length));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
