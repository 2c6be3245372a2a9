import type { Json } from '../json.ts';
import { wholeCharacters } from './whole-characters.ts';

/**
 * Compact JSON on one line, for every definition of a line, without lone surrogates. JSON itself escapes CR and LF;
 * NEL, LINE SEPARATOR and PARAGRAPH SEPARATOR are allowed raw in a string, but Python's `splitlines`, for one, breaks
 * lines there.
 */
export function oneLineJson(value: Json): string {
  const text = wholeCharacters(JSON.stringify(value));
  if (!text.includes('\u0085') && !text.includes('\u2028') && !text.includes('\u2029')) return text;
  return text.replaceAll(UNICODE_BREAKS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A text as a JSON string on one line. */
export function quotedText(text: string): string {
  return standsAsItIs(text) ? `"${text}"` : oneLineJson(text);
}

/** Whether a text needs no escapes in JSON. */
export function standsAsItIs(text: string): boolean {
  return !NOT_AS_IT_IS.test(text);
}

/** Control characters, quotes, backslashes, surrogates and line separators, and a few harmless ones. */
const NOT_AS_IT_IS = /[^ !#-[\]-~\u00a0-\u2027\u202a-\ud7ff\ue000-\uffff]/;
const UNICODE_BREAKS = /[\u0085\u2028\u2029]/g;
