import type { Json } from '../json.ts';
import { wholeCharacters } from './whole-characters.ts';

/**
 * Compact JSON on one line, whatever the reader calls a line, of whole characters. JSON itself escapes CR and LF; NEL, LINE SEPARATOR
 * and PARAGRAPH SEPARATOR may stand raw in a string, but Python's `splitlines`, for one, breaks lines there.
 */
export function oneLineJson(value: Json): string {
  const text = wholeCharacters(JSON.stringify(value));
  // Searching for one character costs next to nothing; a pattern over every message would not.
  if (!text.includes('\u0085') && !text.includes('\u2028') && !text.includes('\u2029')) return text;
  return text.replaceAll(UNICODE_BREAKS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A text as it stands in one line of JSON. */
export function quotedText(text: string): string {
  return standsAsItIs(text) ? `"${text}"` : oneLineJson(text);
}

/** Whether a text can stand between quotes as it is. Nearly every one can. */
export function standsAsItIs(text: string): boolean {
  return !NOT_AS_IT_IS.test(text);
}

/** Control characters, quotes, backslashes, surrogates and breaks of lines; a few more that do no harm in the raw. */
const NOT_AS_IT_IS = /[^ !#-[\]-~\u00a0-\u2027\u202a-\ud7ff\ue000-\uffff]/;
const UNICODE_BREAKS = /[\u0085\u2028\u2029]/g;
