import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { mergedEntry } from './merged-entry.ts';

/**
 * Adds an entry to an object at the top level of JSON settings, or merges it into the entry that has its name.
 * Comments, trailing commas and everything else are kept. `undefined` if the text is not JSON of that shape.
 */
export function withEntry(text: string, { member, name, entry }: NewEntry): string | undefined {
  const before = settingsIn(text);
  if (before === undefined) return undefined;
  const others = before[member] ?? {};
  if (!isObject(others)) return undefined;
  const value = mergedEntry(others[name], entry);
  if (isDeepStrictEqual(others[name], value)) return text;
  const unit = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  const root = objectAt(text, 0);
  const servers = root.members.get(member);
  const known = servers && objectAt(text, servers.start).members.get(name);
  const edited =
    servers === undefined
      ? added(text, root, { name: member, value: { [name]: value }, unit, depth: 1 })
      : known === undefined
        ? added(text, objectAt(text, servers.start), { name, value, unit, depth: 2 })
        : `${text.slice(0, known.start)}${written(value, unit, 2)}${text.slice(known.end)}`;
  const whole = text.includes('\r\n') ? edited.replaceAll(/\r?\n/g, '\r\n') : edited;
  // The text was assembled from parts, so it is parsed once more.
  const expected = { ...before, [member]: { ...others, [name]: value } };
  return isDeepStrictEqual(settingsIn(whole), expected) ? whole : undefined;
}

export interface NewEntry {
  /** The name of the object at the top level. */
  readonly member: string;
  readonly name: string;
  readonly entry: JsonObject;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface ObjectText {
  /** The places of the values, by name. */
  readonly members: ReadonlyMap<string, Span>;
  /** Where the last value ends, and whether a comma follows it. */
  readonly last: number | undefined;
  readonly hasTrailingComma: boolean;
  /** The place of the closing brace. */
  readonly close: number;
}

interface Added {
  readonly name: string;
  readonly value: JsonObject;
  /** One level of indentation. */
  readonly unit: string;
  readonly depth: number;
}

/** Adds a member at the end, after any comments behind the last one. */
function added(text: string, object: ObjectText, { name, value, unit, depth }: Added): string {
  const { last, hasTrailingComma, close } = object;
  const upToEnd = text.slice(0, close).trimEnd();
  const before = last === undefined || hasTrailingComma ? upToEnd : `${upToEnd.slice(0, last)},${upToEnd.slice(last)}`;
  const space = text.slice(upToEnd.length, close);
  const after = space.includes('\n') ? space : `\n${unit.repeat(depth - 1)}`;
  return `${before}\n${unit.repeat(depth)}${JSON.stringify(name)}: ${written(value, unit, depth)}${after}${text.slice(close)}`;
}

function written(value: JsonObject, unit: string, depth: number): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `\n${unit.repeat(depth)}`);
}

/** Reads the first object from a place on. The text must be valid JSON. */
function objectAt(text: string, from: number): ObjectText {
  const members = new Map<string, Span>();
  let depth = 0;
  let key: string | undefined;
  let start: number | undefined;
  let end = 0;
  let last: number | undefined;
  let hasTrailingComma = false;
  for (const { 0: token, index } of withoutComments(text).slice(from).matchAll(TOKEN)) {
    const at = from + index;
    const closes = token === '}' || token === ']';
    if (depth === 1 && (token === ',' || closes)) {
      if (key !== undefined && start !== undefined) {
        members.set(key, { start, end });
        last = end;
      }
      hasTrailingComma = token === ',' || (hasTrailingComma && key === undefined);
      if (closes) return { members, last, hasTrailingComma, close: at };
      key = undefined;
      start = undefined;
    } else if (depth === 1 && key === undefined) key = JSON.parse(token) as string;
    else if (depth === 1 && start === undefined && token !== ':') start = at;
    if (closes) depth -= 1;
    else if (token === '{' || token === '[') depth += 1;
    end = at + token.length;
  }
  throw new Error('the text is not an object');
}

function settingsIn(text: string): JsonObject | undefined {
  try {
    const plain = withoutComments(text).replaceAll(STRING_OR_LAST_COMMA, (token) => (token === ',' ? ' ' : token));
    const settings = JSON.parse(plain) as Json;
    return isObject(settings) ? settings : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces comments with spaces, so that everything else keeps its place. */
function withoutComments(text: string): string {
  return text
    .replace(/^\uFEFF/, ' ')
    .replaceAll(STRING_OR_COMMENT, (token) => (token.startsWith('"') ? token : token.replaceAll(/[^\n]/g, ' ')));
}

const STRING_OR_COMMENT = /"[^"\\]*(?:\\.[^"\\]*)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const STRING_OR_LAST_COMMA = /"[^"\\]*(?:\\.[^"\\]*)*"|,(?=\s*[}\]])/g;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
