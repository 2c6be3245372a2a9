/**
 * Breaks text into lines of at most `width`: after the last space, or after a comma without a space, as in JSON, if it
 * is in the second half of the line; otherwise within a word.
 */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let rest = line;
    while (rest.length > width) {
      const at = breakIn(rest.slice(0, width));
      lines.push(rest.slice(0, at).trimEnd());
      rest = rest.slice(at);
    }
    return [...lines, rest];
  });
}

function breakIn(line: string): number {
  const at = Math.max(line.lastIndexOf(' '), line.lastIndexOf(',')) + 1;
  if (at > line.length / 2) return at;
  // A surrogate pair must not be split.
  return /[\uD800-\uDBFF]$/.test(line) ? line.length - 1 : line.length;
}
