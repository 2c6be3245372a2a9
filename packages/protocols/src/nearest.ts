/** The candidate closest to `word`, for "did you mean …?". */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // Long words are skipped, because the distance is quadratic.
  if (word.length > LONGEST) return undefined;
  const wanted = fold(word);
  let best: string | undefined;
  // If every letter differs, it is another word.
  let bestDistance = Math.min(Math.max(1, Math.floor(word.length / 3)) + 1, wanted.length);
  let compared = 0;
  for (const candidate of candidates) {
    if (candidate.length > LONGEST) continue;
    // Callers may choose the names too, so their number is bounded.
    if (++compared > MOST_COMPARED) break;
    const distance = editDistance(wanted, fold(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `callbackURL`, `callback_url` and `callback-url` are spelling variants. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ .]/g, '');
}

/** Edits (insert, delete, replace, swap of neighbours) from `a` to `b`; gives up at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    // Later rows cannot be smaller than the last two.
    if (row > 1 && lowest(previous) >= limit && lowest(current) >= limit) return limit;
    beforePrevious = previous;
    previous = current;
  }
  return Math.min(previous[b.length] ?? limit, limit);
}

function lowest(row: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const cost of row) if (cost < least) least = cost;
  return least;
}

const LONGEST = 64;
const MOST_COMPARED = 256;
