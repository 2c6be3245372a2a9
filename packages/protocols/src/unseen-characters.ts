/**
 * Controls, format characters (bidi, zero-width, tags), lone surrogates, line and paragraph separators, unassigned
 * tags. They could disguise a name in text from others, so they are shown as codes. Line feeds and tabs are not
 * included.
 */
export const UNSEEN_CHARACTERS = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu;
