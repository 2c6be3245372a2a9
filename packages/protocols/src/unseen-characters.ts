/**
 * Controls, format characters (bidi, zero-width, tags), lone surrogates, line and paragraph separators, unassigned tags. In text that
 * of others they could disguise a name, so they are shown as codes. Line ends and tabs are not among them.
 */
export const UNSEEN_CHARACTERS = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu;
