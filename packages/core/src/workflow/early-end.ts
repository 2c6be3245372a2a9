import type { Cancel } from '../ports.ts';
import type { StopSignal } from '../runs/stop.ts';

/**
 * Whether an execution is over before its time, and why. An `AbortSignal` of its own would do as well, at the price of much
 * of a small execution.
 */
export class EarlyEnd {
  #ended: { readonly reason: unknown } | undefined;
  readonly #told = new Set<(reason: unknown) => void>();

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  get reason(): unknown {
    return this.#ended?.reason;
  }

  /** The first reason counts. */
  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    for (const tell of this.#told) tell(reason);
    this.#told.clear();
  }

  /** Ends with the signal, until that is called off. */
  follow(signal: StopSignal): Cancel {
    const follow = () => this.end(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener('abort', follow, { once: true });
    return () => signal.removeEventListener('abort', follow);
  }

  /** What the promise gives, or the reason as an error when that comes first. */
  unlessEnded<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) reject(this.#ended.reason);
      this.#told.add(reject);
      const done = () => this.#told.delete(reject);
      promise.then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(error);
        },
      );
    });
  }
}
