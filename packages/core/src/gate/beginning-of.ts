import type { InboundAnswer } from './gate.ts';

/** The first bytes of a body as text, to quote it in an error. The rest is not read. */
export async function beginningOf({ body }: Pick<InboundAnswer, 'body'>, mostBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    parts.push(part);
    length += part.length;
    if (length >= mostBytes) break;
  }
  return Buffer.concat(parts).subarray(0, mostBytes).toString();
}
