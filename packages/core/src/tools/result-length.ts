import type { Json } from '@dragoman/protocols';
import { cutTo } from '../text/cut-to.ts';
import { isLargerThan } from './plain-json.ts';

/** Cuts a long result: the beginning of the text, or of its JSON. */
export function inLength(data: Json, limit = MAX_RESULT): { readonly data: Json; readonly truncated: boolean } {
  if (!isLargerThan(data, limit)) return { data, truncated: false };
  const text = typeof data === 'string' ? data : JSON.stringify(new Shortening(limit).shorten(data));
  return { data: cutTo(text, limit), truncated: true };
}

/**
 * Shortens a value to what the first `limit` characters of its JSON show, so that the rest of a very long one need not
 * be serialized.
 */
class Shortening {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  shorten(value: Json): Json {
    if (typeof value === 'string') {
      const kept = this.#left < value.length ? value.slice(0, Math.max(0, this.#left)) : value;
      this.#left -= value.length + 2;
      return kept;
    }
    // The bracket or comma before the value. Digits are not counted: a number may have a single one.
    this.#left -= 1;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) {
        const kept = this.shorten(item);
        if (this.#left < 0) return [...value.slice(0, at), kept];
      }
      return value;
    }
    let members = 0;
    for (const key in value) {
      this.#left -= key.length + 3;
      const kept = this.shorten(value[key] as Json);
      members += 1;
      if (this.#left < 0) return Object.fromEntries([...Object.entries(value).slice(0, members - 1), [key, kept]]);
    }
    return value;
  }
}

/** Characters of JSON in a result. */
export const MAX_RESULT = 1024 * 1024;
