import { randomHex } from '../random-hex.ts';

/** An id that is unique in this process by its count, and among all processes by its random prefix. */
export function stamp(): { readonly id: string; readonly now: Date } {
  count += 1;
  return { id: PREFIX + count.toString(16).padStart(12, '0'), now: now() };
}

export const now = (): Date => new Date();

let count = 0;
const PREFIX = randomHex(10);
