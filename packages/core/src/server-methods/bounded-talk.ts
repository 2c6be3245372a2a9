import { isObject, type Json } from '@dragoman/protocols';
import { cutTo } from '../text/cut-to.ts';

/**
 * Returns values one after the other, unchanged while there is room, and then only the beginning of each: texts are cut, and
 * end in `…`; what comes after the cut is left out.
 */
export class BoundedTalk {
  readonly #least: number;
  #left: number;

  /** Both in characters of JSON: for all values together, and for each of them in any case. */
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
    // What stands around it.
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
