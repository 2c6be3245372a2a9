import type { Search } from './search.ts';

/** Search by the words themselves, whole, begun or with a slip. Loaded when it is first used. */
export const lexicalSearch: Search = {
  async rank(query, texts) {
    const { default: MiniSearch } = await import('minisearch');
    const index = new MiniSearch<{ id: string; text: string }>({ fields: ['text'] });
    index.addAll(texts);
    const found = index.search(query, {
      prefix: (word) => word.length > 2,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
    });
    const best = found[0]?.score ?? 1;
    return found.map(({ id, score }) => ({ id: String(id), score: score / best }));
  },
};
