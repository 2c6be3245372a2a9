/** The scores of one entry for a query. */
export interface Likeness {
  /** By BM25; 0 without a common word. */
  readonly words: number;
  /** The nearness of the whole text; `sentence`: of its nearest sentence. Both are `undefined` without vectors. */
  readonly whole: number | undefined;
  readonly sentence: number | undefined;
}

/** How much each likeness counts. */
export interface Weights {
  readonly words: number;
  readonly whole: number;
  readonly sentence: number;
  /** A related word, relative to the word itself. */
  readonly related: number;
}

/**
 * The score of each entry. Likenesses of different kinds have no common unit, so each is expressed in standard
 * deviations from the mean of all entries. An unknown likeness counts as the mean.
 */
export function scoresOf(likenesses: readonly Likeness[], weights: Weights): number[] {
  const scores = new Array<number>(likenesses.length).fill(0);
  for (const kind of ['words', 'whole', 'sentence'] as const) {
    const known = likenesses.flatMap((likeness) => likeness[kind] ?? []);
    const mean = known.reduce((sum, value) => sum + value, 0) / (known.length || 1);
    const deviation = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (known.length || 1)) || 1;
    for (const [index, likeness] of likenesses.entries()) {
      const value = likeness[kind] ?? mean;
      scores[index] = (scores[index] ?? 0) + (weights[kind] * (value - mean)) / deviation;
    }
  }
  return scores;
}

/** Tuned with the tuning sets of `bench/search`. */
export const WEIGHTS: Weights = { words: 0.9, whole: 0.85, sentence: 1.15, related: 0.5 };
