import type { DragomanError } from './dragoman-error.ts';

/** How often and how long to retry, in milliseconds. */
export interface RetryOptions {
  /** The first pause; each next one is twice as long. Default: 250. */
  readonly firstMs?: number;
  /** The longest pause. Default: 8,000. */
  readonly mostMs?: number;
  /** How long to retry without receiving anything. Default: 60,000. 0: no retry. */
  readonly giveUpAfterMs?: number;
  /**
   * How long an open connection may be silent before it counts as broken. Default: 45,000; the server sends a heartbeat
   * every 15 s.
   */
  readonly silenceMs?: number;
}

export const DEFAULT_RETRY: Required<RetryOptions> = {
  firstMs: 250,
  mostMs: 8_000,
  giveUpAfterMs: 60_000,
  silenceMs: 45_000,
};

/** The clock and randomness of a pause. */
export interface Timing {
  /** A time in milliseconds that never goes back. */
  elapsed(): number;
  wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
  /** A number from 0 to 1. */
  random(): number;
}

/** The pauses between the tries of one answer. */
export class RetryPauses {
  readonly #retry: Required<RetryOptions>;
  readonly #timing: Timing;
  #tries = 0;
  /** When the first failure happened after which nothing was received. */
  #failingSince: number | undefined;

  constructor(retry: Required<RetryOptions>, timing: Timing = systemTiming) {
    this.#retry = retry;
    this.#timing = timing;
  }

  /** Reports that something was received, so that the next failure counts as the first. */
  progress(): void {
    this.#tries = 0;
    this.#failingSince = undefined;
  }

  /** The pause before the next attempt. Throws the error if a retry cannot help, or the time for retries is over. */
  next(error: DragomanError): number {
    const { firstMs, mostMs, giveUpAfterMs } = this.#retry;
    const now = this.#timing.elapsed();
    this.#failingSince ??= now;
    // 50 % jitter, so that clients do not all reconnect at the same time.
    const pause = Math.min(mostMs, firstMs * 2 ** this.#tries++) * (0.5 + this.#timing.random() / 2);
    const wait = Math.max(pause, (error.retryAfter ?? 0) * 1000);
    // Also gives up if the pause would end after the time for retries.
    if (!error.retryable || now + wait - this.#failingSince > giveUpAfterMs) throw error;
    return wait;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#timing.wait(milliseconds, signal);
  }
}

const systemTiming: Timing = {
  elapsed: () => performance.now(),
  random: () => Math.random(),
  wait: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, milliseconds);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
