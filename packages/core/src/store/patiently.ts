import type { Clock, Log } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';

export interface Patience {
  readonly clock: Clock;
  readonly log: Log;
  /** After it aborts, the next refusal is thrown. */
  readonly signal: AbortSignal;
  /** The name of the waiting work, for the log. */
  readonly what: string;
  /** Whether writing twice has the same effect as writing once, so that every error may be retried. Default: false. */
  readonly isRepeatable?: boolean;
}

/**
 * Retries a write while the store refuses it temporarily, as on a full disk or when another program has locked the
 * database. Accepted work must end while the server runs, not at its next start.
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
