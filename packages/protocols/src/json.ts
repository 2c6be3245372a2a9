import { explainBytes, explainText, type JsonFault, type JsonLimits } from './json-explain.ts';
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
  return text === undefined ? refused(explainBytes(bytes)) : parseJson(text, limits);
}

/**
 * Strict JSON from text. `JSON.parse` alone takes duplicate keys (the last wins), lone surrogates, numbers it cannot
 * hold and five million nested arrays; this refuses them and says where.
 *
 * Two tiers keep it near the cost of `JSON.parse`: one cheap scan that only ever answers "nothing to see" or "look
 * closer", and, for the rare text that needs a closer look, `explainText`, which is exact and slow.
 */
export function parseJson(text: string, limits: JsonLimits = {}): Outcome<Json> {
  const members = countMembers(text, limits);
  if (members === SUSPECT || hasSurrogateTrouble(text)) {
    const fault = explainText(text, limits);
    return fault === undefined ? accept(JSON.parse(text) as Json) : refused(fault);
  }
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return refused(explainText(text, limits));
  }
  // A repeated key is written twice and kept once, so the counts differ.
  if (countKeys(value) !== members) return refused(explainText(text, limits));
  return accept(value);
}

/** Members written in the text (each has one colon outside strings), or `SUSPECT`. */
function countMembers(text: string, limits: JsonLimits): number {
  const deepest = limits.depth ?? 64;
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return SUSPECT;
    } else if (code === COLON) {
      members++;
    } else if (code === BRACE_OPEN || code === BRACKET_OPEN) {
      if (++depth > deepest) return SUSPECT;
    } else if (code === BRACE_CLOSE || code === BRACKET_CLOSE) {
      depth--;
    } else if ((code >= ZERO && code <= NINE) || code === MINUS) {
      const start = at;
      let next = text.charCodeAt(at + 1);
      while ((next >= ZERO && next <= NINE) || next === DOT) next = text.charCodeAt(++at + 1);
      // Up to 15 digits survive a double exactly; an exponent, a longer number or a negative zero may not.
      if (at - start >= 15 || next === LOWER_E || next === UPPER_E) return SUSPECT;
      if (code === MINUS && text.charCodeAt(start + 1) === ZERO) return SUSPECT;
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

/** A surrogate, raw or escaped: `explainText` decides whether it stands alone. */
function hasSurrogateTrouble(text: string): boolean {
  return text.includes('\\u') ? ESCAPED_SURROGATE.test(text) : !(text as string & WellFormed).isWellFormed();
}

/** Own keys in the value, all the way down: `for in` lists them without an array, and JSON has no inherited ones. */
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

function refused<T>(fault: JsonFault | undefined): Outcome<T> {
  if (fault === undefined) throw new Error('the quick check refused a text the exact one accepts');
  return reject(fault);
}

/** ES2024, in every runtime we support, not yet in the ES2023 library types. */
interface WellFormed {
  isWellFormed(): boolean;
}

const SUSPECT = -1;
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
