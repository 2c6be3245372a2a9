import { setImmediate as nextTurn } from 'node:timers/promises';
import { queryWords, WordIndex } from '../../search/word-index.ts';
import type { Search } from './search.ts';

/** Search by words and their relatives, as the knowledge search counts them. */
export const lexicalSearch: Search = {
  async rank(query, texts, stop) {
    // Millions of characters have hundreds of thousands of words, and a query has some.
    const index = new WordIndex(queryWords(query));
    let since = 0;
    for (const { id, text } of texts) {
      index.put(id, text);
      since += text.length;
      if (since < A_TURN) continue;
      // There may be millions of characters, and others wait.
      since = 0;
      await nextTurn();
      if (stop?.aborted === true) throw stop.reason;
    }
    const hits = index.search(query, new Set(texts.map(({ id }) => id)), RELATED);
    const ranked = [...hits].map(([id, { score }]) => ({ id, score })).sort((a, b) => b.score - a.score);
    const best = ranked[0]?.score ?? 1;
    return ranked.map(({ id, score }) => ({ id, score: score / best }));
  },
};

/** Characters: some milliseconds' work. */
const A_TURN = 16_384;
/** The weight of a related word, relative to the word itself. */
const RELATED = 0.5;
