import type { Clock } from '../ports.ts';
import { failureOf } from '../refused.ts';

export interface Patience {
  readonly clock: Clock;
  /** Ends it: the next refusal counts. */
  readonly signal: AbortSignal;
}

/**
 * Writes, and tries again for as long as the store refuses for the time being: a full disk, or a database that somebody
 * else holds. What was accepted must come to its end while the server lives, not at its next start.
 */
export async function patiently<T>(write: () => Promise<T>, { clock, signal }: Patience): Promise<T> {
  for (let delay = FIRST_MS; ; delay = Math.min(2 * delay, LONGEST_MS)) {
    try {
      return await write();
    } catch (error) {
      // A refusal means that nothing was recorded, so that doing it again does it once.
      if (failureOf(error)?.code !== 'store_unavailable') throw error;
      await clock.wait(delay, signal).catch(() => {
        throw error;
      });
    }
  }
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;
