import { LRUCache } from 'lru-cache';

/** Caches parsed URLs by their text, because the same ones are called again and again. Do not change a returned URL. */
export class KnownUrls {
  readonly #known = new LRUCache<string, URL>({ max: MOST_KNOWN });

  /** `undefined` for anything but an absolute URL. */
  read(text: string): URL | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (text.length <= LONGEST_KNOWN) this.#known.set(text, url);
    return url;
  }
}

const MOST_KNOWN = 500;
const LONGEST_KNOWN = 2048;
