import { SLICE } from '../text/long-text.ts';
import type { InboundAnswer } from './gate.ts';

/** All bytes of an answer's body, the cheapest way there is. In place of reading it by pieces. */
export async function wholeBody(answer: Pick<InboundAnswer, 'body' | 'whole'>): Promise<Uint8Array> {
  if (answer.whole !== undefined) return answer.whole();
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return joined(chunks);
}

/**
 * The chunks in one; one alone is it already, and is not copied. A long one is in memory that threads share: code that hands it
 * to another thread would hold up everybody else here while it is copied.
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
