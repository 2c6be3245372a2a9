import fc from 'fast-check';
import { expect, test } from 'vitest';
import { itemTexts } from './item-texts.ts';
import type { Json } from './json.ts';

test('the items of compact text are told apart', () => {
  const items: Json[] = [{ id: 7, tags: ['a', 'b},{'] }, 'text', null, [], -12.5];
  expect(itemTexts(JSON.stringify(items), items)).toEqual(items.map((item) => JSON.stringify(item)));
});

test('text that is longer than it could be tells nothing', () => {
  for (const text of ['[ 1,2]', '[1,2] ', '[1.0,2]', '["\\u0061",1]', '[3000,1]', '[]']) {
    expect(itemTexts(text, JSON.parse(text)), text).toBeUndefined();
  }
});

test('a space in one place and a shorter number in another do not add up', () => {
  const text = '[3e3, {"a":1}]';
  expect(itemTexts(text, JSON.parse(text))).toBeUndefined();
});

test('whatever it gives stands for the item', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.constantFrom(undefined, 1), (items, space) => {
      const text = JSON.stringify(items, null, space);
      const read: Json[] = JSON.parse(text);
      const texts = itemTexts(text, read);
      if (texts !== undefined) expect(texts.map((each) => JSON.parse(each))).toEqual(read);
      else expect(items.length === 0 || text !== JSON.stringify(items) || /[\d\\]/.test(text)).toBe(true);
    }),
  );
});
