/**
 * JSON text with U+FFFD for each lone surrogate. Tools that cut text at any place leave lone
 * surrogates, and strict readers refuse the whole line.
 */
export function wholeCharacters(json: string): string {
  // `JSON.stringify` writes a lone surrogate as an escape, and whole characters unescaped.
  return json.includes('\\ud') ? json.replaceAll(ESCAPES, replaced) : json;
}

function replaced(found: string, half: string | undefined): string {
  return half === undefined ? found : '\ufffd';
}

/** Every escape, including escaped backslashes. */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g;
