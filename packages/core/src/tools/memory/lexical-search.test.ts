import { expect, test } from 'vitest';
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
