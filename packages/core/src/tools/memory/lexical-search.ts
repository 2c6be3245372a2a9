import { WordIndex } from '../../knowledge/word-index.ts';
import type { Search } from './search.ts';

/** Search by words and their relatives, as the knowledge search counts them. */
export const lexicalSearch: Search = {
  async rank(query, texts) {
    const index = new WordIndex();
    for (const { id, text } of texts) index.put(id, text);
    const hits = index.search(query, new Set(texts.map(({ id }) => id)), RELATED);
    const ranked = [...hits].map(([id, { score }]) => ({ id, score })).sort((a, b) => b.score - a.score);
    const best = ranked[0]?.score ?? 1;
    return ranked.map(({ id, score }) => ({ id, score: score / best }));
  },
};

/** What a related word counts of the word itself. */
const RELATED = 0.5;
