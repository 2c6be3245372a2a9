import type { Json } from '@dragoman/protocols';
import { type BriefText, BriefWriter } from '../brief-text.ts';
import { StandIn } from '../stand-in.ts';

/** A result that is JSON text already. */
export interface Written {
  readonly text: string;
  /** Where each item ends in it, if it is an array and that is known: a comma stands there, or the closing bracket. */
  readonly ends: readonly number[];
}

/**
 * The results of an execution as the JSON text of one object, on one line; items that are in several of them may stand in it
 * but once. `written`: those that are text already, by id.
 */
export function resultsText(
  results: ReadonlyMap<string, Json>,
  written: ReadonlyMap<string, Written>,
): string | BriefText {
  const writer = new BriefWriter();
  const sources = sourcesOf(results, written);
  let before = '{';
  for (const [id, value] of results) {
    writer.add(`${before}${JSON.stringify(id)}:`);
    before = ',';
    const done = written.get(id);
    if (done === undefined) write(value, sources, writer);
    else {
      const source = sources?.find(({ items }) => items === value);
      if (source !== undefined) source.place = writer.place;
      writer.add(done.text);
    }
  }
  writer.add(before === '{' ? '{}' : '}');
  return writer.end();
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
    if (items === undefined || !hasItems(items) || ends.length !== items.length) continue;
    sources.push({ items, text, ends, place: undefined });
  }
  return sources;
}

interface Source extends Written {
  readonly items: readonly Json[];
  /** Where its text stands; `undefined` as long as it does not. */
  place: number | undefined;
}

function write(value: Json, sources: Source[] | undefined, writer: BriefWriter): void {
  if (sources === undefined || !hasItems(value)) writer.add(JSON.stringify(value));
  else {
    const [first] = value;
    const source = sources.find(({ items }) => items.includes(first as Json));
    if (source === undefined) writeNew(value, sources, writer);
    else writePicked(value, source, writer);
  }
}

/** Item by item, so that the next array can have them. */
function writeNew(items: readonly Json[], sources: Source[], writer: BriefWriter): void {
  const { place } = writer;
  const ends: number[] = [];
  let text = '';
  for (const item of items) {
    text += `${text === '' ? '[' : ','}${JSON.stringify(item)}`;
    ends.push(text.length);
  }
  text += ']';
  writer.add(text);
  sources.push({ items, text, ends, place });
}

/** Items that stand in another array, most of them: those are taken from its text, each with the comma before it. */
function writePicked(items: readonly Json[], { items: from, text, ends, place }: Source, writer: BriefWriter): void {
  writer.add('[');
  let misses = 0;
  for (let index = 0, at = -1; index < items.length; index++) {
    const item = items[index] as Json;
    // Where the order is the same it is the next, or a little further.
    const likely = item instanceof StandIn ? item.place : at + 1;
    at = misses > MOST_MISSES ? -1 : from[likely] === item ? likely : from.indexOf(item);
    if (at === -1) misses++;
    const needsComma = index > 0 && at < 1;
    if (needsComma) writer.add(',');
    if (at === -1) writer.add(JSON.stringify(item));
    else {
      // The first has no comma before it; neither must what is the first here.
      const start = at === 0 ? 1 : (ends[at - 1] as number) + (index === 0 ? 1 : 0);
      const end = ends[at] as number;
      if (place === undefined) writer.add(text.slice(start, end));
      else writer.repeat(place + start, place + end);
    }
  }
  writer.add(']');
}

/** An array of items worth telling apart. Of many, looking for them would take more than it saves. */
function hasItems(value: Json): value is Json[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ITEMS) return false;
  return typeof value[0] === 'object' && value[0] !== null;
}

export const MOST_ITEMS = 1000;
/** A longer result is written again rather than kept twice. */
export const LONGEST_WRITTEN = 65_536;
/** With more of them it is an array of its own. */
const MOST_MISSES = 10;
