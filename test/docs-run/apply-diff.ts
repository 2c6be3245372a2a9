/** The change a page shows, made to a file: each hunk is found by its lines, wherever they have moved to. */
export function applyDiff(diff: string, edit: (path: string, change: (text: string) => string) => void): void {
  for (const part of diff.split(/^--- .*\n\+\+\+ b\//m).slice(1)) {
    const [path = '', ...hunks] = part.split(/\n@@.*\n/);
    edit(path, (text) => hunks.reduce(applyHunk, text));
  }
}

function applyHunk(text: string, hunk: string): string {
  const lines = hunk.replace(/\s*$/, '').split('\n');
  const side = (mark: string) =>
    lines.filter((line) => line.startsWith(' ') || line.startsWith(mark)).map((line) => line.slice(1));
  const [before, after] = [side('-').join('\n'), side('+').join('\n')];
  if (text.split(before).length !== 2) throw new Error(`these lines are not there, or not once:\n${before}`);
  // As a function: in a text, $ would mean something.
  return text.replace(before, () => after);
}
