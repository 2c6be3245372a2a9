import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Json, parseJson } from './json.ts';

test('the items of compact text are told apart', () => {
  const items: Json[] = [{ id: 7, tags: ['a', 'b},{'] }, 'text', null, [], -12.5];
  expect(itemTexts(JSON.stringify(items))).toEqual(items.map((item) => JSON.stringify(item)));
});

test('text that is longer than it could be, and no array, tell nothing', () => {
  for (const text of [
    '[ 1,2]',
    '[1,2] ',
    '[1.0,2]',
    '["\\u0061",1]',
    '[3000,1]',
    '[]',
    '{"a":[1,2]}',
    '"[1,2]"',
    '[1,',
  ]) {
    expect(itemTexts(text), text).toEqual([]);
  }
});

test('a space in one place and a shorter number in another do not add up', () => {
  expect(itemTexts('[3e3, {"a":1}]')).toEqual([]);
});

test('whatever it gives stands for the item', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.constantFrom(undefined, 1), (items, space) => {
      const text = JSON.stringify(items, null, space);
      const texts = itemTexts(text);
      if (texts.length > 0) expect(texts.map((each) => JSON.parse(each))).toEqual(JSON.parse(text));
      else expect(items.length === 0 || text !== JSON.stringify(items) || /[\d\\]/.test(text)).toBe(true);
    }),
  );
});

function itemTexts(text: string): string[] {
  const ends: number[] = [];
  parseJson(text, {}, ends);
  return ends.map((end, at) => text.slice(at === 0 ? 1 : (ends[at - 1] as number) + 1, end));
}
