import { type Json, leastLength } from './json.ts';
import { DEPTH } from './json-explain.ts';

/**
 * How each item is written in the JSON text of the array, without reading the text again. Only for text that is as short as
 * can be: no item can be shorter than its least length, so where all of them together fill the text, each has exactly that.
 */
export function itemTexts(text: string, items: readonly Json[]): readonly string[] | undefined {
  const texts = new Array<string>(items.length);
  // After the opening bracket; behind each item stands a comma or the closing one.
  let at = 1;
  for (let index = 0; index < items.length; index++) {
    const end = at + leastLength(items[index] as Json, DEPTH);
    if (end >= text.length) return undefined;
    texts[index] = text.slice(at, end);
    at = end + 1;
  }
  return at === text.length ? texts : undefined;
}
