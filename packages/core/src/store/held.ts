import { type Patience, patiently } from './patiently.ts';

/**
 * The right to write to an open request or execution. Claiming it from a process that is gone raises its epoch, so that the earlier
 * right is refused (`not_held`) from then on.
 */
export interface Held {
  readonly id: number;
  readonly epoch: number;
}

/** Matched by its code: a store in another thread has classes of its own. */
export function isNotHeld(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'not_held';
}

/** A run that an earlier process left open, with the right to continue it. */
export interface Claimed<Row> {
  readonly row: Row;
  readonly held: Held;
}

/** How many runs are claimed at a time. */
export const CLAIM_LIMIT = 500;

/**
 * Claims everything there is, some at a time. While the store is away it waits. What it has given before it throws must be continued: it is
 * claimed, so nobody else would.
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
