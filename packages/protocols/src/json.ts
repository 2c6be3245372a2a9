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

/** Strict JSON from bytes: UTF-8 or nothing, then as `parseJson`. */
export function parseJsonBytes(bytes: Uint8Array, limits: JsonLimits = {}): Outcome<Json> {
  const text = decodeUtf8(bytes);
  // Text that was UTF-8 has no half surrogates in the raw.
  if (text !== undefined) return parse(text, limits, true);
  const fault = explainBytes(bytes);
  if (fault === undefined) throw new Error('the decoder refused bytes that are UTF-8');
  return reject(fault);
}

/**
 * Strict JSON from text. `JSON.parse` alone takes duplicate keys (the last wins), lone surrogates, numbers it cannot
 * hold and five million nested arrays; this refuses them and says where.
 *
 * The number of values is bounded before `JSON.parse` runs: by its length for a text of up to `LONG_TEXT` characters, by a
 * scan for a longer one.
 *
 * Three tiers keep it near the cost of `JSON.parse`. Most messages come as compact as `JSON.stringify` writes them, and
 * their length proves them sound. For others there are cheap checks that only ever answer "nothing to see" or "look
 * closer", and, for the rare text that needs a closer look, `explainText`, which is exact and slow.
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

/** The value of a well-formed text, or `undefined` when anything at all about it needs a closer look. */
function parseUnsuspected(text: string, limits: JsonLimits): Json | TooMany | undefined {
  // Keys that every object inherits would be counted with its own, and hide a repeated one.
  for (const _ in EMPTY) return undefined;
  if (limits.numberCharacters !== undefined && limits.numberCharacters < LONGEST_PLAIN) return undefined;
  if (text.length > LONG_TEXT) return parseScanned(text, limits);
  const value = parseOrNot(text);
  if (value === undefined) return undefined;
  const least = leastLength(value, limits.depth ?? DEFAULT_JSON_LIMITS.depth);
  return least <= text.length && text.length < least + LEAST_HARM ? value : parseScanned(text, limits, value);
}

/**
 * The length of the shortest JSON that gives this value: nothing to look for can hide in text that is hardly longer, see
 * `LEAST_HARM`. `Infinity` for what is nested too deep, and for numbers that are not plain.
 */
function leastLength(value: Json, levels: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return leastLengthOfNumber(value);
  if (value === false) return 5;
  if (value === null || value === true) return 4;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  // The closing bracket; the opening one or a comma stands before each item or member.
  let length = 1;
  if (Array.isArray(value)) {
    for (const item of value) length += 1 + leastLength(item, levels - 1);
  } else {
    for (const key in value) {
      const member = value[key] as Json;
      // A quote, a colon, a quote and what is before them. Members are texts, most often.
      length += key.length + 4 + (typeof member === 'string' ? member.length + 2 : leastLength(member, levels - 1));
    }
  }
  return length === 1 ? 2 : length;
}

/** From 0.1 to 10 ** 15 nothing is shorter than plain digits, unless they end in three zeros: 3000 can be 3e3. */
function leastLengthOfNumber(value: number): number {
  const sign = value < 0 ? 1 : 0;
  const size = Math.abs(value);
  if (size < 0.1) return Object.is(value, 0) ? 1 : Number.POSITIVE_INFINITY;
  if (size < 1000 && Number.isInteger(size)) return sign + (size < 10 ? 1 : size < 100 ? 2 : 3);
  // A time in seconds, which every message has, is recognised without writing it: at least ten digits, a point and one to three more.
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

/** The same by a look at each token of the text. */
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
  // Half a surrogate pair can still come out of an escape.
  return escapes && ESCAPED_SURROGATE.test(text) && !isWellFormedThroughout(value) ? undefined : value;
}

/**
 * A long text has more values than it may have. That is all there is to say: to look for what else is wrong with it would cost
 * what the bound is there to save.
 */
class TooMany {
  readonly offset: number;

  constructor(offset: number) {
    this.offset = offset;
  }
}

/** Members written in the text (each has one colon outside strings), or `SUSPECT` for its depth or a number. */
function countMembers(text: string, escapes: boolean, limits: JsonLimits): number | TooMany {
  const deepest = limits.depth ?? DEFAULT_JSON_LIMITS.depth;
  // What a short text holds is counted when it is parsed.
  const most = text.length > LONG_TEXT ? (limits.nodes ?? mostNodes(text.length)) : Number.POSITIVE_INFINITY;
  let members = 0;
  // Every value but the outermost is the first in its array or object, or stands behind a comma.
  let nodes = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      // Without a backslash anywhere, the next quote is the end.
      at = escapes ? endOfString(text, at) : text.indexOf('"', at + 1);
      if (at === -1) return SUSPECT;
      // Half of all strings are keys: nearly always their colon follows at once, and most often a string follows that.
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
      // White space, most often; JSON.parse refuses everything else.
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

/** The index of the last character of the number that starts at `start`, or -1 when it may not be taken. */
function endOfNumber(text: string, start: number, limits: JsonLimits): number {
  let end = start + 1;
  let isZero = text.charCodeAt(start) <= ZERO;
  let code = text.charCodeAt(end);
  for (; (code >= ZERO && code <= NINE) || code === DOT; code = text.charCodeAt(++end)) if (code > ZERO) isZero = false;
  // Any 15 digits survive a double, with an exponent of two digits too. What is longer, or -0, is tried.
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

/** Whether a value that was read from a text of this length is in the bounds that most texts are too short to reach. */
function isWithin(whole: Json, length: number, limits: JsonLimits): boolean {
  const {
    nodes = mostNodes(length),
    keyBytes = DEFAULT_JSON_LIMITS.keyBytes,
    stringBytes = DEFAULT_JSON_LIMITS.stringBytes,
  } = limits;
  // A value takes two characters, with the comma or the bracket beside it, and a character at most three bytes.
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

/** Keys in the value, all the way down: `for in` lists them without making an array of them. */
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

/** Different keys in the value, all the way down. */
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
 * What each thing we refuse adds to the shortest text, at least: a repeated key is `"":0,`, half a surrogate pair is
 * `\ud800` in the place of one character, and a number that becomes 0 is 1e-400.
 */
const LEAST_HARM = 5;
/** Other numbers a double changes have 16 digits and, below a million milliards, a point among them or an exponent. */
const LEAST_CHANGED = 17;
/** What is written in no more characters is never looked at: 15 digits with an exponent such as e+10. */
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
