import type { StopSignal } from '../../ending/ending.ts';

export interface Searchable {
  readonly id: string;
  readonly text: string;
}

/** Ranks texts by how well they match a query: only those that match, best first, with scores from 0 to 1. */
export interface Search {
  /** Rejects once `stop` has ended. */
  rank(query: string, texts: readonly Searchable[], stop?: StopSignal): Promise<readonly Ranked[]>;
}

export interface Ranked {
  readonly id: string;
  readonly score: number;
}
