import type { Cancel } from '../ports/ports.ts';

/** The common interface of `AbortSignal` and `Ending`. */
export interface StopSignal {
  readonly aborted: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: as `AbortSignal` has it
  readonly reason: any;
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A lightweight `AbortController` for each request, tool call and execution. Its real signal is made on demand. */
export class Ending implements StopSignal {
  /** The first listener. Most endings have no other one, and need no set. */
  #listener: (() => void) | undefined;
  #others: Set<() => void> | undefined;
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;

  /** An ending that ends with a signal. */
  static of(signal: AbortSignal): Ending {
    const ending = new Ending();
    ending.follow(signal);
    return ending;
  }

  get aborted(): boolean {
    return this.#ended !== undefined;
  }

  get reason(): unknown {
    return this.#ended?.reason;
  }

  /** This ending as an `AbortSignal`. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  /** Only the first call has an effect. */
  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#controller?.abort(reason);
    const [first, others] = [this.#listener, this.#others];
    this.#listener = undefined;
    this.#others = undefined;
    first?.();
    if (others !== undefined) for (const listener of others) listener();
  }

  /** Calls back when it ends, or at once when it has. */
  onEnd(listener: () => void): Cancel {
    if (this.#ended !== undefined) listener();
    else this.#add(listener);
    return () => this.removeEventListener('abort', listener);
  }

  /** Ends with the signal, unless the returned function is called before. */
  follow(signal: StopSignal): Cancel {
    const follow = () => this.end(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener('abort', follow, { once: true });
    return () => signal.removeEventListener('abort', follow);
  }

  addEventListener(_: 'abort', listener: () => void): void {
    if (this.#ended === undefined) this.#add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  #add(listener: () => void): void {
    if (this.#listener === undefined && this.#others === undefined) this.#listener = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }
}

/** The `AbortSignal` of a signal, for code that accepts nothing else. */
export function abortSignalOf(signal: StopSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  if (signal instanceof Ending) return signal.signal;
  throw new Error('a signal is an AbortSignal or an Ending');
}
