/** Numbers of items, in some order. */
export type Places = Uint32Array<ArrayBuffer>;

/** Places and, for each, a 64-bit integer to sort it by. */
export interface Keyed {
  readonly low: Places;
  readonly high: Places;
  readonly places: Places;
}

/** Stable radix sort, 16 bits at a time from the lowest. A digit that all keys share needs no pass. */
export function byDigits(keyed: Keyed): Keyed {
  let from = keyed;
  for (let digit = 0; digit < 4; digit++) {
    const counts = countsOf(digit < 2 ? from.low : from.high, (digit % 2) * 16);
    if (counts !== undefined) from = scattered(from, counts, digit);
  }
  return from;
}

/** The first target index for each digit; `undefined` when all keys share the digit. */
function countsOf(words: Places, shift: number): Uint32Array | undefined {
  const counts = new Uint32Array(DIGITS);
  for (let at = 0; at < words.length; at++) {
    const digit = ((words[at] as number) >>> shift) & (DIGITS - 1);
    counts[digit] = (counts[digit] as number) + 1;
  }
  if (counts[((words[0] as number) >>> shift) & (DIGITS - 1)] === words.length) return undefined;
  let before = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = counts[digit] as number;
    counts[digit] = before;
    before += count;
  }
  return counts;
}

function scattered({ low, high, places }: Keyed, starts: Uint32Array, digit: number): Keyed {
  const length = places.length;
  const to = { low: new Uint32Array(length), high: new Uint32Array(length), places: new Uint32Array(length) };
  const words = digit < 2 ? low : high;
  const shift = (digit % 2) * 16;
  for (let at = 0; at < length; at++) {
    const value = ((words[at] as number) >>> shift) & (DIGITS - 1);
    const target = starts[value] as number;
    starts[value] = target + 1;
    to.low[target] = low[at] as number;
    to.high[target] = high[at] as number;
    to.places[target] = places[at] as number;
  }
  return to;
}

/** From this length on, a radix sort is used instead of comparisons. */
export const MANY = 2048;
const DIGITS = 65_536;
