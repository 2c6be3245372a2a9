/**
 * Whether a path leads above itself for a server that decodes before it resolves `..`, decodes twice, takes a backslash for a
 * slash, drops path parameters (`..;x`), or accepts overlong UTF-8.
 */
export function climbs(path: string): boolean {
  let text = path;
  for (let round = 0; round < MOST_DECODINGS && text.includes('%'); round += 1) text = text.replaceAll(ESCAPE, decoded);
  return OVERLONG.test(text) || text.split(/[/\\]/).some((segment) => DOTS.test(segment));
}

function decoded(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

const MOST_DECODINGS = 3;
const ESCAPE = /%([0-9a-f]{2})/gi;
/** Byte sequences that a lax decoder reads as an ASCII character. */
const OVERLONG = /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]/;
/** Some servers drop control characters and blanks. */
const DOTS = /^[\0-\x20]*\.[\0-\x20]*\.[\0-\x20]*(?:;|$)/;
