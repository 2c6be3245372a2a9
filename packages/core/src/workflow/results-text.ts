import { itemTexts, type Json } from '@dragoman/protocols';

/** The results of an execution as the JSON text of one object, on one line. `written`: those that are text already, by id. */
export function resultsText(results: ReadonlyMap<string, Json>, written: ReadonlyMap<string, string>): string {
  const items = itemsOf(results, written);
  let text = '';
  for (const [id, value] of results) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(id)}:${written.get(id) ?? textOf(value, items)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/**
 * The texts of items, by the item. What is filtered, sorted or sliced has the very items of what it was made from, and writing
 * those is most of the work. `undefined` where there is nothing that could be shared.
 */
type ItemTexts = Map<Json, string>;

function itemsOf(results: ReadonlyMap<string, Json>, written: ReadonlyMap<string, string>): ItemTexts | undefined {
  let arrays = 0;
  for (const value of results.values()) if (hasItems(value)) arrays++;
  if (arrays < 2) return undefined;
  const items: ItemTexts = new Map();
  for (const [id, text] of written) {
    const value = results.get(id);
    const texts = value !== undefined && hasItems(value) ? itemTexts(text, value) : undefined;
    if (texts === undefined) continue;
    for (let at = 0; at < texts.length; at++) items.set((value as Json[])[at] as Json, texts[at] as string);
  }
  return items;
}

function textOf(value: Json, items: ItemTexts | undefined): string {
  if (items === undefined || !hasItems(value)) return JSON.stringify(value);
  let text = '';
  for (const item of value) {
    let written = items.get(item);
    if (written === undefined) {
      written = JSON.stringify(item);
      if (isHolder(item)) items.set(item, written);
    }
    text += text === '' ? written : `,${written}`;
  }
  return `[${text}]`;
}

/** An array of items worth telling apart. Of many, keeping the texts would take more than it saves. */
function hasItems(value: Json): value is Json[] {
  return Array.isArray(value) && value.length > 0 && value.length <= MOST_ITEMS && isHolder(value[0] as Json);
}

function isHolder(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

const MOST_ITEMS = 1000;
