import { isObject, type Json } from '@dragoman/protocols';
import { cutTo } from '../text/cut-to.ts';

/**
 * Shortens a sequence of values: unchanged while there is room, then only the beginning of each. A cut text ends in
 * `…`, and what follows it in the value is omitted.
 */
export class BoundedTalk {
  readonly #least: number;
  #left: number;

  /** Characters of JSON: `whole` for all values together, `least` for each value in any case. */
  constructor({ whole, least }: { readonly whole: number; readonly least: number }) {
    this.#left = whole;
    this.#least = least;
  }

  bounded(value: Json): Json {
    const room = Math.max(this.#least, this.#left);
    const size = JSON.stringify(value).length;
    this.#left -= Math.min(size, room);
    return size <= room ? value : beginningOf(value, room);
  }
}

function beginningOf(value: Json, room: number): Json {
  let left = room;

  function cut(one: Json): Json {
    if (typeof one === 'string') {
      const text = one.length <= left ? one : `${cutTo(one, left)}…`;
      left -= text.length;
      return text;
    }
    // Brackets, commas and quotes.
    left -= PUNCTUATION;
    if (Array.isArray(one)) return one.flatMap((item) => (left > 0 ? [cut(item)] : []));
    if (!isObject(one)) return one;
    const members: [string, Json][] = [];
    for (const key in one) {
      left -= key.length + PUNCTUATION;
      if (left <= 0) break;
      members.push([key, cut(one[key] ?? null)]);
    }
    return Object.fromEntries(members);
  }

  return cut(value);
}

const PUNCTUATION = 4;
