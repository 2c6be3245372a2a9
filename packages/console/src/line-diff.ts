export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** The removed and added lines between two texts, in order. */
export function lineDiff(before: string, now: string): DiffLine[] {
  const [old, fresh] = [before.split('\n'), now.split('\n')];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < fresh.length - start &&
    old[old.length - 1 - end] === fresh[fresh.length - 1 - end]
  )
    end++;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...old.slice(0, start).map(same),
    ...middle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}

/** Compares by the longest common subsequence. If that would take too long, all lines count as changed. */
function middle(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  if (old.length * fresh.length > MOST_PAIRS) {
    return [
      ...old.map((text): DiffLine => ({ kind: 'removed', text })),
      ...fresh.map((text): DiffLine => ({ kind: 'added', text })),
    ];
  }
  const width = fresh.length + 1;
  // For each pair of positions, the number of lines that the rests of both texts have in common.
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = fresh.length - 1; column >= 0; column--) {
      common[row * width + column] =
        old[row] === fresh[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < fresh.length) {
    if (row < old.length && column < fresh.length && old[row] === fresh[column]) {
      lines.push({ kind: 'same', text: old[row++] ?? '' });
      column++;
    } else if (column === fresh.length || (row < old.length && at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ kind: 'removed', text: old[row++] ?? '' });
    } else lines.push({ kind: 'added', text: fresh[column++] ?? '' });
  }
  return lines;
}

/** The comparison of so many pairs takes a few milliseconds. */
const MOST_PAIRS = 4_000_000;
