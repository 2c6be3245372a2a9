import type { Cancel } from '../ports.ts';

/**
 * That something may be told to stop. An `AbortSignal` says the same and costs more than a whole call of a small tool, so
 * one is made only for those who ask for it.
 */
export class Ending {
  /** Most are listened to by nobody or by one. */
  #listener: (() => void) | undefined;
  #others: Set<() => void> | undefined;
  #controller: AbortController | undefined;
  #isOver = false;
  #reason: unknown;

  /** The end that a signal tells of. */
  static of(signal: AbortSignal): Ending {
    const ending = new Ending();
    if (signal.aborted) ending.end(signal.reason);
    else signal.addEventListener('abort', () => ending.end(signal.reason), { once: true });
    return ending;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** Calls back when it ends, or at once when it has. */
  onEnd(listener: () => void): Cancel {
    if (this.#isOver) listener();
    else if (this.#listener === undefined && this.#others === undefined) this.#listener = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
      else this.#others?.delete(listener);
    };
  }

  /** The first reason is the one that counts. */
  end(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const first = this.#listener;
    this.#listener = undefined;
    first?.();
    for (const listener of this.#others ?? []) listener();
    this.#others = undefined;
  }
}
