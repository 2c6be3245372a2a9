import type { Json } from '@dragoman/protocols';
import { byDigits, MANY, type Places } from './radix.ts';
import { sortedTexts } from './sorted-texts.ts';

type Column = readonly (Json | undefined)[];

/**
 * The places of a column in the order of its values; equal values keep their given order. Each type is sorted by
 * itself, so that comparisons need not check types.
 */
export function sortedPlaces(column: Column, places: Places, descending: boolean): Places {
  const kinds = byKind(column, places);
  const numbers = sortedNumbers(column, kinds.numbers, descending);
  const texts = sortedTexts(column as readonly string[], kinds.texts, descending);
  const booleans = sortedNumbers(column, kinds.booleans, descending);
  const parts = [numbers, texts, booleans, kinds.others];
  const ordered = [...(descending ? parts.reverse() : parts), kinds.missing].filter((part) => part.length > 0);
  const [only = places] = ordered;
  return ordered.length === 1 ? only : joined(ordered, places.length);
}

interface Kinds {
  readonly numbers: Places;
  readonly texts: Places;
  readonly booleans: Places;
  readonly others: Places;
  readonly missing: Places;
}

function byKind(column: Column, places: Places): Kinds {
  let numbers = 0;
  let texts = 0;
  for (const place of places) {
    const value = column[place];
    if (typeof value === 'number') numbers++;
    else if (typeof value === 'string') texts++;
  }
  if (numbers === places.length) return { ...NO_KINDS, numbers: places };
  if (texts === places.length) return { ...NO_KINDS, texts: places };
  const where = (holds: (value: Json | undefined) => boolean) => places.filter((place) => holds(column[place]));
  return {
    numbers: where((value) => typeof value === 'number'),
    texts: where((value) => typeof value === 'string'),
    booleans: where((value) => typeof value === 'boolean'),
    others: where((value) => typeof value === 'object' && value !== null),
    missing: where((value) => value === undefined || value === null),
  };
}

/** Sorts numbers and booleans (true is 1): a few by comparison, many by radix sort. */
function sortedNumbers(column: Column, places: Places, descending: boolean): Places {
  if (places.length < 2) return places;
  const keys = new Float64Array(places.length);
  // Adding 0 turns -0 into 0.
  for (let at = 0; at < places.length; at++) keys[at] = Number(column[places[at] as number]) + 0;
  if (places.length >= MANY) return byDigits({ ...sortableHalves(keys, descending), places }).places;
  const sign = descending ? -1 : 1;
  const order = Array.from(keys.keys()).sort((one, other) => sign * ((keys[one] as number) - (keys[other] as number)));
  return Uint32Array.from(order, (at) => places[at] as number);
}

/**
 * Doubles as two integers each that sort in the same order: the sign bit is inverted, and for negative numbers all
 * other bits, too.
 */
function sortableHalves(keys: Float64Array<ArrayBuffer>, descending: boolean): { low: Places; high: Places } {
  const words = new Uint32Array(keys.buffer);
  const low = new Uint32Array(keys.length);
  const high = new Uint32Array(keys.length);
  const turned = descending ? 0xffffffff : 0;
  for (let at = 0; at < keys.length; at++) {
    const upper = words[2 * at + HIGH_WORD] as number;
    const isNegative = upper >>> 31 === 1;
    high[at] = upper ^ (isNegative ? 0xffffffff : 0x80000000) ^ turned;
    low[at] = (words[2 * at + 1 - HIGH_WORD] as number) ^ (isNegative ? 0xffffffff : 0) ^ turned;
  }
  return { low, high };
}

function joined(parts: readonly Places[], length: number): Places {
  const whole = new Uint32Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const NO_PLACES: Places = new Uint32Array(0);
const NO_KINDS: Kinds = {
  numbers: NO_PLACES,
  texts: NO_PLACES,
  booleans: NO_PLACES,
  others: NO_PLACES,
  missing: NO_PLACES,
};

/** The index of the half of a double with its sign: the second on little-endian machines. */
const HIGH_WORD = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;
