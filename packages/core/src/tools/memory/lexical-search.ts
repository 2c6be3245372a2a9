import { setImmediate as nextTurn } from 'node:timers/promises';
import { queryWords, WordIndex } from '../../search/word-index.ts';
import type { Search } from './search.ts';

/** Searches by words and related words, with the scores of the knowledge search. */
export const lexicalSearch: Search = {
  async rank(query, texts, stop) {
    // Only the words of the query are indexed: millions of characters contain hundreds of thousands of words.
    const index = new WordIndex(queryWords(query));
    let since = 0;
    for (const { id, text } of texts) {
      index.put(id, text);
      since += text.length;
      if (since < A_TURN) continue;
      // Millions of characters would block the event loop.
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

/** Characters that are indexed before yielding: some milliseconds of work. */
const A_TURN = 16_384;
/** The weight of a related word, relative to the word itself. */
const RELATED = 0.5;
