import type { StopSignal } from '../ending.ts';
import type { Cancel, Clock } from '../ports.ts';
import { Refused } from '../refused.ts';
import type { Exchange } from './exchange.ts';
import { late } from './gate-failure.ts';

/** The time one exchange has, its body included: it ends when that is over, or when its caller does not want it any more. */
export class Deadline {
  readonly #signal: StopSignal | undefined;
  readonly #stop: Cancel;
  readonly #clock: Clock;
  readonly #until: number;
  readonly #cancel = () => this.#end(this.#signal?.reason);
  #exchange: Exchange | undefined;
  #refuse: ((reason: unknown) => void) | undefined;
  #ended: { readonly reason: unknown } | undefined;

  constructor({ clock, milliseconds, signal }: DeadlineOptions) {
    this.#signal = signal;
    this.#clock = clock;
    this.#until = clock.elapsed() + milliseconds;
    this.#stop = clock.after(milliseconds, () =>
      this.#end(new Refused(late(milliseconds, this.#exchange?.sent === true))),
    );
    signal?.addEventListener('abort', this.#cancel, { once: true });
  }

  get leftMs(): number {
    return Math.max(0, this.#until - this.#clock.elapsed());
  }

  /** What the promise gives, unless time is over first. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#refuse = reject;
      promise.then(resolve, reject);
      if (this.#ended !== undefined) reject(this.#ended.reason);
    });
  }

  /** From here on the exchange ends with it. */
  attach(exchange: Exchange): void {
    this.#exchange = exchange;
    if (this.#ended !== undefined) exchange.fail(this.#ended.reason);
  }

  /** Nothing has to be ended any more. */
  release(): void {
    this.#stop();
    this.#signal?.removeEventListener('abort', this.#cancel);
  }

  #end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#refuse?.(reason);
    this.#exchange?.fail(reason);
  }
}

interface DeadlineOptions {
  readonly clock: Clock;
  readonly milliseconds: number;
  readonly signal: StopSignal | undefined;
}
