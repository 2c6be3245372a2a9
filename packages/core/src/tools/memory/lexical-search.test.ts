import { expect, test, vi } from 'vitest';
import { Ending } from '../../ending/ending.ts';
import { WordIndex } from '../../search/word-index.ts';
import { lexicalSearch } from './lexical-search.ts';

test('others have their turn while much is searched', async () => {
  const texts = Array.from({ length: 40 }, (_, id) => ({ id: `${id}`, text: `word${id} `.repeat(2_000) }));
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const ranked = await lexicalSearch.rank('word7', texts);
  isOver = true;
  expect(ranked[0]?.id).toBe('7');
  expect(turns).toBeGreaterThan(15);
});

test('the index remembers only the words of the query', async () => {
  const put = vi.spyOn(WordIndex.prototype, 'put');
  await lexicalSearch.rank('word7', [{ id: 'a', text: 'word7 word8' }]);
  const [index] = put.mock.contexts as WordIndex[];
  put.mockRestore();
  const found = (query: string) => index?.search(query, new Set(['a'])).size;
  expect([found('word7'), found('word8')]).toEqual([1, 0]);
});

test('a search that is given up ends', async () => {
  const texts = Array.from({ length: 40 }, (_, id) => ({ id: `${id}`, text: `word${id} `.repeat(2_000) }));
  const ending = new Ending();
  const ranked = lexicalSearch.rank('word7', texts, ending);
  ending.end(new Error('enough'));
  await expect(ranked).rejects.toThrow('enough');
});
