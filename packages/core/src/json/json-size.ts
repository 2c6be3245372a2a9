import type { Json } from '@dragoman/protocols';

/** About how many bytes a value has as JSON: short texts count as if they were ASCII. */
export function jsonSize(value: Json): number {
  return atMost(value, Number.POSITIVE_INFINITY);
}

/** Like `jsonSize`, but stops counting at `limit`, which it then returns. */
export function atMost(value: Json, limit: number): number {
  if (typeof value === 'string') return textSize(value);
  if (typeof value !== 'object' || value === null) return SCALAR;
  let total = 2;
  const waiting: Json[] = [value];
  for (let current = waiting.pop(); current !== undefined && total < limit; current = waiting.pop()) {
    if (Array.isArray(current)) {
      total += current.length;
      for (const item of current) total += sizeOrLater(item, waiting);
    } else if (typeof current === 'object' && current !== null) {
      for (const key in current) total += key.length + 4 + sizeOrLater(current[key] as Json, waiting);
    }
  }
  return Math.min(total, limit);
}

function sizeOrLater(value: Json, waiting: Json[]): number {
  if (typeof value === 'string') return textSize(value);
  if (typeof value !== 'object' || value === null) return SCALAR;
  waiting.push(value);
  return 2;
}

/** Counting the bytes of a text is slow, so it is done only for long texts. */
function textSize(text: string): number {
  return text.length < LONG ? text.length + 2 : Buffer.byteLength(text) + 2;
}

const SCALAR = 8;
const LONG = 1024;
