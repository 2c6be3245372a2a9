import type { StopSignal } from '../../ending/ending.ts';

/** Something that can be found by words. */
export interface Searchable {
  readonly id: string;
  readonly text: string;
}

/** Ranks texts by how well they fit a question: the score of each that fits at all, from 0 to 1, best first. */
export interface Search {
  /** Rejects once it is to stop. */
  rank(query: string, texts: readonly Searchable[], stop?: StopSignal): Promise<readonly Ranked[]>;
}

export interface Ranked {
  readonly id: string;
  readonly score: number;
}
