import type { Clock, Log } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';

export interface Patience {
  readonly clock: Clock;
  readonly log: Log;
  /** Stops it: the next refusal is thrown. */
  readonly signal: AbortSignal;
  /** The name of the waiting work, for the log. */
  readonly what: string;
  /** Writing twice has the same effect as writing once, so every error is worth another try. */
  readonly isRepeatable?: boolean;
}

/**
 * Writes, and tries again while the store refuses temporarily: a full disk, or a database that another program
 * has locked. Accepted work must end while the server runs, not at its next start.
 */
export async function patiently<T>(write: () => Promise<T>, patience: Patience): Promise<T> {
  const { clock, log, signal, what, isRepeatable = false } = patience;
  for (let delay = FIRST_MS; ; delay = Math.min(2 * delay, LONGEST_MS)) {
    try {
      return await write();
    } catch (error) {
      // A refusal means that nothing was recorded, so that doing it again does it once.
      if (signal.aborted || !(isRepeatable || failureOf(error)?.code === 'store_unavailable')) throw error;
      // Logged once: many may be waiting for the same disk.
      if (delay === FIRST_MS) log.warn({ error: String(error) }, `${what} could not be recorded yet`);
      await clock.wait(delay, signal).catch(() => {
        throw error;
      });
    }
  }
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;
