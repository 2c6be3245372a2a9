/**
 * How many columns of a terminal a text takes: two for wide characters, none for those that combine with the one
 * before.
 */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The text padded with spaces to exactly this width, or cut with an ellipsis. */
export function fitting(text: string, width: number): string {
  const missing = width - displayWidth(text);
  if (missing >= 0) return text + ' '.repeat(missing);
  let kept = '';
  let used = 0;
  for (const character of text) {
    if (used + widthOf(character) > width - 1) break;
    kept += character;
    used += widthOf(character);
  }
  return `${kept}…${' '.repeat(Math.max(0, width - 1 - used))}`;
}

function widthOf(character: string): number {
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

const ASCII = /^[\x20-\x7e]*$/;
const COMBINING = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Characters of East Asian Width W and F (UAX #11), by their blocks, and emoji that are shown as pictures. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;
