import type { Json } from '@dragoman/protocols';
import { StandIn } from '../stand-in.ts';
import { LONGEST_WRITTEN, MOST_ITEMS, type Written } from './results-text.ts';

export interface Rows extends Written {
  readonly items: readonly StandIn[];
}

/**
 * Reads an array of rows in JSON, but of each row only some members: to make values of all of them takes three times as long,
 * and most are asked for by nobody. It knows rows that are alike: objects with the same members in the same order, of texts
 * without escapes, short numbers, true, false and null. For anything else, right or wrong, it gives `undefined`, and then the
 * text is to be read whole.
 */
export class PartialRows {
  readonly names: readonly string[];
  readonly #worth: number;
  #shape: Shape | undefined;
  #shapes = 0;
  /** Answers in a row that did not fit. */
  #unfit = 0;

  /** `worth`: after how many answers a pattern is made. */
  constructor(names: readonly string[], worth = WORTH) {
    this.names = names;
    this.#worth = worth;
  }

  read(text: string): Rows | undefined {
    if (text.length < SHORTEST || text.length > LONGEST_WRITTEN) return undefined;
    const rows = this.#shape && rowsIn(text, this.#shape);
    this.#unfit = rows === undefined ? this.#unfit + 1 : 0;
    if (rows !== undefined || this.#unfit < this.#worth || this.#shapes === MOST_SHAPES) return rows;
    this.#unfit = 0;
    this.#shapes += 1;
    const shape = shapeOf(text, this.names);
    if (shape === undefined) return undefined;
    this.#shape = shape;
    return rowsIn(text, shape);
  }
}

/** How a row is written. */
interface Shape {
  /** Takes one row, with what comes between it and the next. */
  readonly pattern: RegExp;
  /** Which member each of its groups is. */
  readonly names: readonly string[];
}

/** The shape of the first row. */
function shapeOf(text: string, needed: readonly string[]): Shape | undefined {
  if (!text.startsWith('[{')) return undefined;
  const members = new Set<string>();
  let isLast = false;
  for (MEMBER.lastIndex = 2; !isLast; ) {
    const [, name, next] = MEMBER.exec(text) ?? [];
    if (name === undefined || name === '__proto__' || members.size === MOST_MEMBERS) return undefined;
    // One that came before is in the pattern once, and then no row fits it: a strict reader refuses such.
    members.add(name);
    isLast = next === '}';
  }
  if (!needed.every((name) => members.has(name) && !(name in Row.prototype))) return undefined;
  const parts = [...members].map((name) => `"${escaped(name)}" ?: ?${needed.includes(name) ? `(${VALUE})` : VALUE}`);
  return {
    pattern: new RegExp(`\\{${parts.join(', ?')}\\}(?:, ?|\\]$)`, 'y'),
    names: [...members].filter((name) => needed.includes(name)),
  };
}

function rowsIn(text: string, { pattern, names }: Shape): Rows | undefined {
  if (!text.startsWith('[')) return undefined;
  const items: Row[] = [];
  const ends: number[] = [];
  const written = { text, ends };
  for (let at = 1; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null || items.length === MOST_ITEMS) return undefined;
    const row = new Row(written, items.length);
    for (let group = 0; group < names.length; group++) {
      (row as unknown as Record<string, Json>)[names[group] as string] = tokenValue(found[group + 1] as string);
    }
    items.push(row);
    const last = pattern.lastIndex - 1;
    ends.push(text.charCodeAt(last) === SPACE ? last - 1 : last);
  }
  // The last one took the closing bracket; after a comma there is another.
  return text.endsWith(']') ? { ...written, items } : undefined;
}

/** One row. The members that were read are its own. */
class Row extends StandIn {
  readonly #in: Written;
  readonly #place: number;

  constructor(rows: Written, place: number) {
    super();
    this.#in = rows;
    this.#place = place;
  }

  get place(): number {
    return this.#place;
  }

  get jsonBytes(): number {
    return this.#text.length;
  }

  toJSON(): Json {
    return JSON.parse(this.#text);
  }

  get #text(): string {
    const { text, ends } = this.#in;
    return text.slice((ends[this.#place - 1] ?? 0) + 1, ends[this.#place]);
  }
}

function tokenValue(token: string): Json {
  const first = token.charCodeAt(0);
  if (first === QUOTE) return token.slice(1, -1);
  if (first <= NINE) return Number(token);
  return token === 'null' ? null : token === 'true';
}

function escaped(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** What stands in a text without being an escape, a quotation mark or a control character. */
const CHARACTERS = '[ !#-\\[\\]-\\uffff]*';
/** Each begins with another character, so a row is read in one go. The numbers are all finite. */
const VALUE = `(?:"${CHARACTERS}"|-?(?:0|[1-9][0-9]{0,19})(?:\\.[0-9]{1,19})?|true|false|null)`;
const MEMBER = new RegExp(`"(${CHARACTERS})" ?: ?${VALUE}(, ?|\\})`, 'y');
const QUOTE = 0x22;
const SPACE = 0x20;
const NINE = 0x39;
/** Of less there is nothing to be saved. */
const SHORTEST = 512;
/** To make a pattern takes a tenth of a millisecond for each member, and saves a third of a microsecond for each row. */
const WORTH = 32;
const MOST_MEMBERS = 32;
/** For an API that keeps changing its rows no more are made. */
const MOST_SHAPES = 4;
