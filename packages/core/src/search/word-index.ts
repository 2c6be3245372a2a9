import { spelledOut } from './spelled-out.ts';
import { relatedTo } from './thesaurus.ts';
import { stemOf, wordsOf } from './words.ts';

/**
 * Finds texts by their words (BM25). The rarity of a word is counted among the texts searched, never among all texts,
 * so that a score reveals nothing about texts that the caller may not see.
 */
export class WordIndex {
  readonly #counts = new Map<string, ReadonlyMap<string, number>>();
  readonly #lengths = new Map<string, number>();
  /** The keys of the texts with each word. */
  readonly #places = new Map<string, Set<string>>();
  readonly #only: ReadonlySet<string> | undefined;

  /** `only`: the only words that will be searched for. An index for one query need not remember every word. */
  constructor(only?: ReadonlySet<string>) {
    this.#only = only;
  }

  put(key: string, text: string): void {
    this.remove(key);
    const counts = new Map<string, number>();
    const words = wordsOf(text);
    for (const word of words) {
      if (this.#only?.has(word) !== false) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    for (const word of counts.keys()) {
      const places = this.#places.get(word);
      if (places === undefined) this.#places.set(word, new Set([key]));
      else places.add(key);
    }
    this.#counts.set(key, counts);
    this.#lengths.set(key, words.length);
  }

  remove(key: string): void {
    for (const word of this.#counts.get(key)?.keys() ?? []) {
      const places = this.#places.get(word);
      places?.delete(key);
      if (places?.size === 0) this.#places.delete(word);
    }
    this.#counts.delete(key);
    this.#lengths.delete(key);
  }

  /**
   * The scores of those texts that have a word of the query or a related word. For each word of the query, the best
   * related word counts, multiplied by `relatedWeight`.
   */
  search(query: string, keys: ReadonlySet<string>, relatedWeight = 0): Map<string, WordHit> {
    const hits = new Map<string, Mutable>();
    let total = 0;
    for (const key of keys) total += this.#lengths.get(key) ?? 0;
    const average = total / keys.size || 1;
    const hitOf = (key: string): Mutable => {
      const hit = hits.get(key) ?? { score: 0, words: [], related: [] };
      hits.set(key, hit);
      return hit;
    };
    for (const word of new Set(wordsOf(query))) {
      for (const [key, score] of this.#scores(word, keys, average)) {
        const hit = hitOf(key);
        hit.score += score;
        hit.words.push(word);
      }
      if (relatedWeight === 0) continue;
      const best = new Map<string, { score: number; word: string }>();
      for (const other of relatedTo(word)) {
        for (const [key, score] of this.#scores(other, keys, average)) {
          if (score > (best.get(key)?.score ?? 0)) best.set(key, { score, word: other });
        }
      }
      for (const [key, { score, word: other }] of best) {
        const hit = hitOf(key);
        hit.score += relatedWeight * score;
        hit.related.push(other);
      }
    }
    return hits;
  }

  /** The score of one word for each text that has it. */
  *#scores(word: string, keys: ReadonlySet<string>, average: number): Iterable<[key: string, score: number]> {
    const among = [...(this.#places.get(word) ?? [])].filter((key) => keys.has(key));
    const rarity = Math.log(1 + (keys.size - among.length + 0.5) / (among.length + 0.5));
    for (const key of among) {
      const count = this.#counts.get(key)?.get(word) ?? 0;
      const length = (this.#lengths.get(key) ?? 0) / average;
      yield [key, (rarity * count * (K + 1)) / (count + K * (1 - B + B * length))];
    }
  }
}

/** The words of a query and related ones. */
export function queryWords(query: string): ReadonlySet<string> {
  const words = wordsOf(query);
  return new Set(words.flatMap((word) => [word, ...relatedTo(word)]));
}

export interface WordHit {
  readonly score: number;
  /** Stems, as `wordsOf` returns them: of the query's words, and in `related` of words related to them. */
  readonly words: readonly string[];
  readonly related: readonly string[];
}

interface Mutable {
  score: number;
  readonly words: string[];
  readonly related: string[];
}

/** The words of a text that have these stems, as they are written there. */
export function asWritten(text: string, stems: readonly string[]): string[] {
  const written =
    spelledOut(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(written.filter((word) => stems.includes(stemOf(word))))];
}

// The usual BM25 parameters: saturation of repeated words, and length normalization.
const K = 1.2;
const B = 0.75;
