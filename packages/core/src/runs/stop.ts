/** What ends something from outside: an `AbortSignal`, or a `Stop`, as far as both are the same. */
export interface StopSignal {
  readonly aborted: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: as `AbortSignal` has it
  readonly reason: any;
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An `AbortController` and its signal in one, for what comes and goes by the thousand and is hardly ever ended: it costs next
 * to nothing. The real signal is made for who needs it.
 */
export class Stop implements StopSignal {
  #ended: { readonly reason: unknown } | undefined;
  readonly #listeners = new Set<() => void>();
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#ended !== undefined;
  }

  get reason(): unknown {
    return this.#ended?.reason;
  }

  /** The same as an `AbortSignal`. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#controller?.abort(reason);
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  addEventListener(_: 'abort', listener: () => void): void {
    if (this.#ended === undefined) this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

/** For who takes nothing but the real one. */
export function abortSignalOf(signal: StopSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  if (signal instanceof Stop) return signal.signal;
  throw new Error('a signal is an AbortSignal or a Stop');
}
