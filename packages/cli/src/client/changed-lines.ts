/** The difference of two texts: the lines from the first to the last that differ, marked as by `diff`. */
export function changedLines(before: string, after: string): string {
  const old = before === '' ? [] : before.split('\n');
  const now = after.split('\n');
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const removed = old.slice(start, old.length - end).map((line) => `- ${line}\n`);
  return [...removed, ...now.slice(start, now.length - end).map((line) => `+ ${line}\n`)].join('');
}
