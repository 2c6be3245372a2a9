import type { Clock, Log } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';

export interface Patience {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends it: the next refusal counts. */
  readonly signal: AbortSignal;
  /** What is waiting, for the log. */
  readonly what: string;
  /** Written twice it is as written once, so whatever went wrong is worth another try. */
  readonly isRepeatable?: boolean;
}

/**
 * Writes, and tries again for as long as the store refuses for the time being: a full disk, or a database that somebody
 * else holds. What was accepted must come to its end while the server lives, not at its next start.
 */
export async function patiently<T>(write: () => Promise<T>, patience: Patience): Promise<T> {
  const { clock, log, signal, what, isRepeatable = false } = patience;
  for (let delay = FIRST_MS; ; delay = Math.min(2 * delay, LONGEST_MS)) {
    try {
      return await write();
    } catch (error) {
      // A refusal means that nothing was recorded, so that doing it again does it once.
      if (signal.aborted || !(isRepeatable || failureOf(error)?.code === 'store_unavailable')) throw error;
      // Once: many may be waiting for the same disk.
      if (delay === FIRST_MS) log.warn({ error: String(error) }, `${what} could not be recorded yet`);
      await clock.wait(delay, signal).catch(() => {
        throw error;
      });
    }
  }
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;
