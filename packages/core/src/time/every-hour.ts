import type { Clock, Log } from '../ports/ports.ts';

export interface EveryHourOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Stops the repetition. */
  readonly signal: AbortSignal;
  /** The log message when the task fails. It runs again an hour later. */
  readonly failed: string;
}

/** Runs a task now, and every hour from then on. */
export async function everyHour(
  work: () => Promise<unknown>,
  { clock, log, signal, failed }: EveryHourOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      // While the server stops, the store may close first.
      if (!signal.aborted) log.warn({ error: String(error) }, failed);
    }
    await clock.wait(ONE_HOUR, signal).catch(() => {});
  }
}

/** In milliseconds. */
export const ONE_HOUR = 3600 * 1000;
