import type { DragomanError } from './dragoman-error.ts';

/** How long to retry. Milliseconds. */
export interface RetryOptions {
  /** The first pause; each next one is twice as long. Default: 250. */
  readonly firstMs?: number;
  /** The longest pause. Default: 8,000. */
  readonly mostMs?: number;
  /** How long without a frame or a sign of life before giving up. Default: 60,000. 0 never tries twice. */
  readonly giveUpAfterMs?: number;
  /** How long an open connection may be silent before it counts as broken. Default: 45,000; the server sends a heartbeat every 15 s. */
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
  /** Milliseconds that only ever grow. */
  elapsed(): number;
  wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
  /** From 0 to 1. */
  random(): number;
}

/** The pauses between the tries of one answer. */
export class RetryPauses {
  readonly #retry: Required<RetryOptions>;
  readonly #timing: Timing;
  #tries = 0;
  /** When the first try failed of those that brought nothing. */
  #failingSince: number | undefined;

  constructor(retry: Required<RetryOptions>, timing: Timing = systemTiming) {
    this.#retry = retry;
    this.#timing = timing;
  }

  /** Something was received: the next failure counts as the first. */
  progress(): void {
    this.#tries = 0;
    this.#failingSince = undefined;
  }

  /** The pause before the next try after this error; throws the error when it is not worth one, or the time is up. */
  next(error: DragomanError): number {
    const { firstMs, mostMs, giveUpAfterMs } = this.#retry;
    const now = this.#timing.elapsed();
    this.#failingSince ??= now;
    // 50 % jitter, so that clients do not all reconnect at the same time.
    const pause = Math.min(mostMs, firstMs * 2 ** this.#tries++) * (0.5 + this.#timing.random() / 2);
    const wait = Math.max(pause, (error.retryAfter ?? 0) * 1000);
    // A longer pause than the remaining time would leave no attempt.
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
