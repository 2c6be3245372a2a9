import type { Json } from '../json.ts';

/**
 * Compact JSON on one line, whatever the reader calls a line. JSON itself escapes CR and LF; NEL, LINE SEPARATOR and
 * PARAGRAPH SEPARATOR may stand raw in a string, but Python's `splitlines`, for one, breaks lines there.
 */
export function oneLineJson(value: Json): string {
  const text = JSON.stringify(value);
  // Searching for one character costs next to nothing; a pattern over every message would not.
  if (!text.includes('\u0085') && !text.includes('\u2028') && !text.includes('\u2029')) return text;
  return text.replaceAll(UNICODE_BREAKS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const UNICODE_BREAKS = /[\u0085\u2028\u2029]/g;
