/**
 * JSON as it was written, with U+FFFD for each half of a character. A tool that cuts a text at any place leaves such a
 * half; strict readers, and we, refuse the whole line for it.
 */
export function wholeCharacters(json: string): string {
  // `JSON.stringify` writes a half as an escape, and whole characters as they are.
  return json.includes('\\ud') ? json.replaceAll(ESCAPES, replaced) : json;
}

function replaced(found: string, half: string | undefined): string {
  return half === undefined ? found : '\ufffd';
}

/** Every escape: a backslash that is escaped itself begins none. */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;
