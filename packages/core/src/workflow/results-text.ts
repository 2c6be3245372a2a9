import type { Json } from '@dragoman/protocols';

/** A result that is JSON text already. */
export interface Written {
  readonly text: string;
  /** Where each item ends in it, if it is an array and that is known: a comma stands there, or the closing bracket. */
  readonly ends: readonly number[];
}

/** The results of an execution as the JSON text of one object, on one line. `written`: those that are text already, by id. */
export function resultsText(results: ReadonlyMap<string, Json>, written: ReadonlyMap<string, Written>): string {
  const sources = sourcesOf(results, written);
  let text = '';
  for (const [id, value] of results) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(id)}:${written.get(id)?.text ?? textOf(value, sources)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/**
 * Arrays whose items are written already. What is filtered, sorted or sliced has the very items of what it was made from, and
 * writing those is most of the work. `undefined` where there is nothing that could be shared.
 */
function sourcesOf(results: ReadonlyMap<string, Json>, written: ReadonlyMap<string, Written>): Source[] | undefined {
  let arrays = 0;
  for (const value of results.values()) if (hasItems(value)) arrays++;
  if (arrays < 2) return undefined;
  const sources: Source[] = [];
  for (const [id, { text, ends }] of written) {
    const items = results.get(id);
    if (items !== undefined && hasItems(items) && ends.length === items.length) sources.push({ items, text, ends });
  }
  return sources;
}

interface Source extends Written {
  readonly items: readonly Json[];
}

function textOf(value: Json, sources: Source[] | undefined): string {
  if (sources === undefined || !hasItems(value)) return JSON.stringify(value);
  const [first] = value;
  const source = sources.find(({ items }) => items.includes(first as Json));
  return source === undefined ? writtenNow(value, sources) : picked(value, source);
}

/** Item by item, so that the next array can have them. */
function writtenNow(items: readonly Json[], sources: Source[]): string {
  const ends: number[] = [];
  let text = '';
  for (const item of items) {
    text += `${text === '' ? '[' : ','}${JSON.stringify(item)}`;
    ends.push(text.length);
  }
  text += ']';
  sources.push({ items, text, ends });
  return text;
}

/** Items that stand in another array, most of them: those are cut out of its text, each with the comma before it. */
function picked(items: readonly Json[], { items: from, text, ends }: Source): string {
  let picks = '';
  let misses = 0;
  for (let index = 0, at = -1; index < items.length; index++) {
    const item = items[index] as Json;
    // Where the order is the same it is the next, or a little further.
    at = misses > MOST_MISSES ? -1 : from[at + 1] === item ? at + 1 : from.indexOf(item);
    if (at > 0 && index > 0) picks += text.slice(ends[at - 1], ends[at]);
    else {
      if (at === -1) misses++;
      const alone =
        at === -1 ? JSON.stringify(item) : text.slice(at === 0 ? 1 : (ends[at - 1] as number) + 1, ends[at]);
      picks += index === 0 ? alone : `,${alone}`;
    }
  }
  return `[${picks}]`;
}

/** An array of items worth telling apart. Of many, looking for them would take more than it saves. */
function hasItems(value: Json): value is Json[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ITEMS) return false;
  return typeof value[0] === 'object' && value[0] !== null;
}

const MOST_ITEMS = 1000;
/** With more of them it is an array of its own. */
const MOST_MISSES = 10;
