import type { Json } from '@dragoman/protocols';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/ports.ts';

/**
 * A cache of the results of pure operations (A2E, Caching). A lineage identifies the operation, its configuration and
 * the lineages of its inputs, so entries are never outdated and no large value has to be hashed. Answers of APIs are
 * cached where they are fetched.
 */
export interface ResultCache {
  get(lineage: string): Json | undefined;
  put(lineage: string, value: Json, bound: { readonly bytes: number; readonly seconds: number }): void;
}

/** A cache in memory for several callers, each of whom sees only their own entries. */
export class MemoryResultCache {
  readonly #values: LRUCache<string, { readonly value: Json }>;

  constructor({ clock, maxBytes }: { clock: Pick<Clock, 'elapsed'>; maxBytes: number }) {
    this.#values = new LRUCache({
      max: MOST_RESULTS,
      maxSize: maxBytes,
      maxEntrySize: Math.floor(maxBytes / 4),
      perf: { now: () => clock.elapsed() },
      ttlResolution: 0,
    });
  }

  /** The cache as one caller sees it. */
  of(caller: string): ResultCache {
    const values = this.#values;
    return {
      get: (lineage) => values.get(`${caller} ${lineage}`)?.value,
      put: (lineage, value, { bytes, seconds }) => {
        values.set(`${caller} ${lineage}`, { value }, { size: Math.max(1, Math.ceil(bytes)), ttl: seconds * 1000 });
      },
    };
  }

  /** Clears the cache of one caller, or all of it. */
  forget(caller?: string): void {
    for (const key of [...this.#values.keys()]) {
      if (caller === undefined || key.startsWith(`${caller} `)) this.#values.delete(key);
    }
  }
}

const MOST_RESULTS = 1000;
