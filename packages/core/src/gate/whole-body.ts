import type { InboundAnswer } from './gate.ts';

/** All bytes of an answer's body, the cheapest way there is. In place of reading it by pieces. */
export async function wholeBody({ body, whole }: Pick<InboundAnswer, 'body' | 'whole'>): Promise<Uint8Array> {
  if (whole !== undefined) return whole();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return joined(chunks);
}

/** The chunks in one; one alone is it already, and is not copied. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}
