import { type Patience, patiently } from './patiently.ts';

/**
 * The right to write to an open request or execution. When another process claims the run, its epoch rises, and writes
 * with the earlier right fail with `not_held`.
 */
export interface Held {
  readonly id: number;
  readonly epoch: number;
}

/** Matched by code, because an error from the store's thread may be of another class. */
export function isNotHeld(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'not_held';
}

/** A run that an earlier process left open, with the right to continue it. */
export interface Claimed<Row> {
  readonly row: Row;
  readonly held: Held;
}

/** How many runs are claimed in one write. */
export const CLAIM_LIMIT = 500;

/**
 * Claims all, some at a time. While the store is away it waits. The caller must continue what it has received even if a
 * later claim throws: it is claimed, so nobody else would.
 */
export async function* claimAll<Row>(
  claim: (limit: number) => Promise<readonly Row[]>,
  patience: Omit<Patience, 'what'>,
): AsyncGenerator<readonly Row[]> {
  for (;;) {
    const some = await patiently(() => claim(CLAIM_LIMIT), { ...patience, what: 'the work of a process that is gone' });
    yield some;
    if (some.length < CLAIM_LIMIT) return;
  }
}
