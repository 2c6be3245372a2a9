import type { Json } from '../json.ts';
import { encodeUtf8 } from '../platform.ts';
import { MAILBOX_LIMITS } from './message.ts';

/** The size of content on the wire: text unchanged, anything else as compact JSON. */
export interface ContentSize {
  /** UTF-16 code units, as JavaScript counts. */
  readonly characters: number;
  readonly bytes: number;
}

/** The limits of content; both apply. */
export interface ContentLimits {
  readonly contentCharacters: number;
  readonly contentBytes: number;
}

/** The size of content that exceeds a limit; otherwise `undefined`. */
export function excessiveSize(
  content: Json,
  { contentCharacters, contentBytes }: ContentLimits = MAILBOX_LIMITS,
): ContentSize | undefined {
  // A code unit takes at most three bytes, so short content needs no counting.
  if (typeof content === 'string') {
    if (content.length <= contentCharacters && content.length * 3 <= contentBytes) return undefined;
  } else if (atMost(content, 0) <= Math.min(contentCharacters, contentBytes)) return undefined;
  const size = sizeOf(content);
  return size.characters > contentCharacters || size.bytes > contentBytes ? size : undefined;
}

function sizeOf(content: Json): ContentSize {
  if (typeof content === 'string') return { characters: content.length, bytes: byteLength(content) };
  return {
    characters: total(content, (text) => JSON.stringify(text).length),
    bytes: total(content, (text) => byteLength(JSON.stringify(text))),
  };
}

/** The size of a value as compact JSON, measured without recursion because the sender chooses its depth. */
function total(content: Json, sizeOfText: (text: string) => number): number {
  const open: Json[] = [content];
  let size = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') size += sizeOfText(value);
    else if (typeof value !== 'object' || value === null) size += String(value).length;
    else if (Array.isArray(value)) {
      // Brackets, and a comma between two items.
      size += value.length === 0 ? 2 : value.length + 1;
      for (const item of value) open.push(item);
    } else {
      let members = 0;
      for (const key in value) {
        members++;
        size += sizeOfText(key) + 1;
        open.push(value[key] as Json);
      }
      size += members === 0 ? 2 : members + 1;
    }
  }
  return size;
}

/** An upper bound for the characters and bytes of a value as compact JSON. */
function atMost(value: Json, depth: number): number {
  // An escaped code unit takes six characters, and no number more than 25.
  if (typeof value === 'string') return value.length * 6 + 2;
  if (typeof value !== 'object' || value === null) return 25;
  if (depth > 64) return Number.POSITIVE_INFINITY;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += atMost(item, depth + 1) + 1;
  else for (const key in value) size += key.length * 6 + 4 + atMost(value[key] ?? null, depth + 1);
  return size;
}

function byteLength(text: string): number {
  return encodeUtf8(text).length;
}
