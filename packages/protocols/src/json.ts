import {
  DEFAULT_JSON_LIMITS,
  explainBytes,
  explainText,
  fitsInto,
  type JsonLimits,
  LONG_TEXT,
  mostNodes,
  takesNumber,
  tooMany,
} from './json-explain.ts';
import type { Outcome } from './outcome.ts';
import { accept, reject } from './outcome.ts';
import { decodeUtf8 } from './platform.ts';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Strict JSON from bytes, which must be UTF-8; otherwise like `parseJson`. */
export function parseJsonBytes(bytes: Uint8Array, limits: JsonLimits = {}): Outcome<Json> {
  const text = decodeUtf8(bytes);
  // Decoded UTF-8 has no raw lone surrogates.
  if (text !== undefined) return parse(text, limits, true);
  const fault = explainBytes(bytes);
  if (fault === undefined) throw new Error('the decoder refused bytes that are UTF-8');
  return reject(fault);
}

/**
 * Strict JSON from text. `JSON.parse` accepts duplicate keys (the last wins), lone surrogates, numbers it cannot
 * represent and five million nested arrays; this function refuses them with their position.
 *
 * The number of values is bounded before `JSON.parse` runs: by the length of a text of up to `LONG_TEXT` characters, by
 * a scan of a longer one.
 *
 * There are three tiers. If a text is as compact as `JSON.stringify` writes it, its length proves that it is valid.
 * Other texts get quick checks, which answer "valid" or "check closely". `explainText` checks closely: it is exact and
 * slow.
 */
export function parseJson(text: string, limits: JsonLimits = {}): Outcome<Json> {
  return parse(text, limits, isWellFormed(text));
}

function parse(text: string, limits: JsonLimits, wellFormed: boolean): Outcome<Json> {
  const value = wellFormed ? parseUnsuspected(text, limits) : undefined;
  if (value instanceof TooMany) return reject(tooMany(text.length, value.offset, limits));
  if (value !== undefined && isWithin(value, text.length, limits)) return accept(value);
  const fault = explainText(text, limits);
  return fault === undefined ? accept(JSON.parse(text) as Json) : reject(fault);
}

/** The value of a well-formed text, or `undefined` if it needs a close check. */
function parseUnsuspected(text: string, limits: JsonLimits): Json | TooMany | undefined {
  // Inherited enumerable keys would be counted too and could hide a repeated key.
  for (const _ in EMPTY) return undefined;
  if (limits.numberCharacters !== undefined && limits.numberCharacters < LONGEST_PLAIN) return undefined;
  if (text.length > LONG_TEXT) return parseScanned(text, limits);
  const value = parseOrNot(text);
  if (value === undefined) return undefined;
  const least = leastLength(value, limits.depth ?? DEFAULT_JSON_LIMITS.depth);
  return least <= text.length && text.length < least + LEAST_HARM ? value : parseScanned(text, limits, value);
}

/**
 * The length of the shortest JSON of this value: a text that is hardly longer cannot contain a fault, see
 * `LEAST_HARM`. `Infinity` for values nested too deeply, and for unusual numbers.
 */
function leastLength(value: Json, levels: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return leastLengthOfNumber(value);
  if (value === false) return 5;
  if (value === null || value === true) return 4;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  // The closing bracket; each item or member has an opening bracket or a comma before it.
  let length = 1;
  if (Array.isArray(value)) {
    for (const item of value) length += 1 + leastLength(item, levels - 1);
  } else {
    for (const key in value) {
      const member = value[key] as Json;
      // Two quotes, a colon, and the comma or bracket. Most members are strings.
      length += key.length + 4 + (typeof member === 'string' ? member.length + 2 : leastLength(member, levels - 1));
    }
  }
  return length === 1 ? 2 : length;
}

/** From 0.1 to 10 ** 15 plain digits are the shortest form, unless they end in three zeros: 3000 can be 3e3. */
function leastLengthOfNumber(value: number): number {
  const sign = value < 0 ? 1 : 0;
  const size = Math.abs(value);
  if (size < 0.1) return Object.is(value, 0) ? 1 : Number.POSITIVE_INFINITY;
  if (size < 1000 && Number.isInteger(size)) return sign + (size < 10 ? 1 : size < 100 ? 2 : 3);
  // Times in seconds are frequent. They have at least ten digits, a point and one to three digits more.
  if (size >= 1e9 && size < 1e11 && !Number.isInteger(size) && Math.round(size * 1000) / 1000 === size) {
    return sign + LEAST_CHANGED - LEAST_HARM;
  }
  let shortest = String(size).length;
  if (shortest > 15 || size >= 1e15) return Number.POSITIVE_INFINITY;
  if (size % 1000 === 0) {
    let zeros = 3;
    while (size % 10 ** (zeros + 1) === 0) zeros++;
    shortest += 'e3'.length - zeros;
  }
  return sign + Math.min(shortest, LEAST_CHANGED - LEAST_HARM);
}

function parseOrNot(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Like `parseUnsuspected`, by scanning the tokens of the text. */
function parseScanned(text: string, limits: JsonLimits, parsed?: Json): Json | TooMany | undefined {
  const escapes = text.includes('\\');
  const members = countMembers(text, escapes, limits);
  if (members === SUSPECT) return undefined;
  if (members instanceof TooMany) return members;
  const value = parsed === undefined ? parseOrNot(text) : parsed;
  // A repeated key is written twice and kept once, so the counts differ.
  if (value === undefined || countKeys(value) !== members) return undefined;
  const { keys = DEFAULT_JSON_LIMITS.keys } = limits;
  if (text.length > LONG_TEXT && members > keys && countDifferentKeys(value) > keys) return undefined;
  // Escapes can still produce a lone surrogate.
  return escapes && ESCAPED_SURROGATE.test(text) && !isWellFormedThroughout(value) ? undefined : value;
}

/**
 * The fault of a long text with too many values. No other faults are searched, because the limit
 * exists to avoid that cost.
 */
class TooMany {
  readonly offset: number;

  constructor(offset: number) {
    this.offset = offset;
  }
}

/**
 * The members written in the text (each has one colon outside strings), or `SUSPECT` if its depth or a number needs a
 * close check.
 */
function countMembers(text: string, escapes: boolean, limits: JsonLimits): number | TooMany {
  const deepest = limits.depth ?? DEFAULT_JSON_LIMITS.depth;
  // The values of a short text are counted after parsing.
  const most = text.length > LONG_TEXT ? (limits.nodes ?? mostNodes(text.length)) : Number.POSITIVE_INFINITY;
  let members = 0;
  // Every value except the outermost is the first of its container or follows a comma.
  let nodes = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      // Without a backslash anywhere, the next quote is the end.
      at = escapes ? endOfString(text, at) : text.indexOf('"', at + 1);
      if (at === -1) return SUSPECT;
      // A key is usually followed directly by its colon, and then often by a string.
      if (text.charCodeAt(at + 1) === COLON) {
        members++;
        at++;
        if (text.charCodeAt(at + 1) === QUOTE) {
          at = escapes ? endOfString(text, at + 1) : text.indexOf('"', at + 2);
          if (at === -1) return SUSPECT;
        }
      }
    } else if (code === COMMA) {
      if (++nodes > most) return new TooMany(at + 1);
    } else if (code < COMMA) {
      // White space; JSON.parse refuses everything else.
    } else if (code === COLON) {
      members++;
    } else if (code <= NINE) {
      at = endOfNumber(text, at, limits);
      if (at === -1) return SUSPECT;
    } else if (code === BRACE_OPEN || code === BRACKET_OPEN) {
      if (++depth > deepest) return SUSPECT;
      while (text.charCodeAt(at + 1) <= SPACE) at++;
      // The closing bracket of each kind is the second character after the opening one in ASCII.
      if (text.charCodeAt(at + 1) !== code + 2 && ++nodes > most) return new TooMany(at + 1);
    } else if (code === BRACE_CLOSE || code === BRACKET_CLOSE) {
      depth--;
    }
  }
  return members;
}

/** The index of the closing quote of the string that opens at `start`, or -1. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && text.charCodeAt(end - 1) === BACKSLASH) {
    let first = end - 1;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return end;
}

/** The index of the last character of the number that starts at `start`, or -1 if it is not accepted. */
function endOfNumber(text: string, start: number, limits: JsonLimits): number {
  let end = start + 1;
  let isZero = text.charCodeAt(start) <= ZERO;
  let code = text.charCodeAt(end);
  for (; (code >= ZERO && code <= NINE) || code === DOT; code = text.charCodeAt(++end)) if (code > ZERO) isZero = false;
  // Any 15 digits survive a double, with an exponent of two digits too. Longer numbers and -0 are converted and compared.
  const isPlain = end - start <= 15 && !(isZero && text.charCodeAt(start) === MINUS);
  let exponent = end;
  if (code === LOWER_E || code === UPPER_E) {
    code = text.charCodeAt(++end);
    if (code === PLUS || code === MINUS) code = text.charCodeAt(++end);
    exponent = end;
    while (code >= ZERO && code <= NINE) code = text.charCodeAt(++end);
  }
  if (isPlain && end - exponent <= 2) return end - 1;
  return takesNumber(text.slice(start, end), limits) ? end - 1 : -1;
}

/** Whether a value from a text of this length is within the limits that short texts cannot exceed. */
function isWithin(whole: Json, length: number, limits: JsonLimits): boolean {
  const {
    nodes = mostNodes(length),
    keyBytes = DEFAULT_JSON_LIMITS.keyBytes,
    stringBytes = DEFAULT_JSON_LIMITS.stringBytes,
  } = limits;
  // A value takes at least two characters, and a character at most three bytes.
  const isCounted = length > LONG_TEXT || length < 2 * nodes;
  if (isCounted && 3 * length <= Math.min(keyBytes, stringBytes)) return true;
  const open: Json[] = [whole];
  let count = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (++count > nodes && !isCounted) return false;
    if (typeof value === 'string') {
      if (!fitsInto(stringBytes, value)) return false;
    } else if (Array.isArray(value)) {
      for (const item of value) open.push(item);
    } else if (typeof value === 'object' && value !== null) {
      for (const key in value) {
        if (!fitsInto(keyBytes, key)) return false;
        open.push(value[key] as Json);
      }
    }
  }
  return true;
}

function isWellFormedThroughout(value: Json): boolean {
  if (typeof value === 'string') return isWellFormed(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormedThroughout);
  for (const key in value) {
    if (!isWellFormed(key) || !isWellFormedThroughout(value[key] as Json)) return false;
  }
  return true;
}

/** ES2024, in every runtime we support, not yet in the ES2023 library types. */
function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

/** The number of keys in the value, at every depth. */
function countKeys(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) keys += countKeys(item);
    return keys;
  }
  for (const key in value) {
    keys++;
    const member = value[key];
    if (typeof member === 'object' && member !== null) keys += countKeys(member);
  }
  return keys;
}

/** The number of different keys in the value, at every depth. */
function countDifferentKeys(whole: Json): number {
  const different = new Set<string>();
  const visit = (value: Json) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) for (const item of value) visit(item);
    else {
      for (const key in value) {
        different.add(key);
        visit(value[key] as Json);
      }
    }
  };
  visit(whole);
  return different.size;
}

const EMPTY: JsonObject = {};
/**
 * The minimum that each fault adds to the shortest text: a repeated key is `"":0,`, a lone surrogate is
 * `\ud800` instead of one character, and a number that becomes 0 is 1e-400.
 */
const LEAST_HARM = 5;
/**
 * The least length of any other number that a double changes: 16 digits and, below 10 ** 15, a point or an exponent.
 */
const LEAST_CHANGED = 17;
/** Numbers of at most this many characters are not checked: 15 digits with an exponent such as e+10. */
const LONGEST_PLAIN = 19;
const ESCAPED_SURROGATE = /\\u[dD]/;
const SUSPECT = -1;
const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BACKSLASH = 0x5c;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
