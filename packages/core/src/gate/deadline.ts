import { Ending, type StopSignal } from '../ending/ending.ts';
import { unlessAborted } from '../ending/until-aborted.ts';
import type { Cancel, Clock } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import type { OutboundExchange } from './exchange.ts';
import { late } from './gate-failure.ts';

/** The time one exchange has, its body included: it ends when that is over, or when its caller does not want it any more. */
export class Deadline {
  readonly #ending = new Ending();
  readonly #stop: Cancel;
  readonly #leave: Cancel | undefined;
  readonly #clock: Clock;
  readonly #until: number;
  #exchange: OutboundExchange | undefined;

  constructor({ clock, milliseconds, signal }: DeadlineOptions) {
    this.#clock = clock;
    this.#until = clock.elapsed() + milliseconds;
    this.#ending.onEnd(() => this.#exchange?.fail(this.#ending.reason));
    this.#stop = clock.after(milliseconds, () =>
      this.#ending.end(new Refused(late(milliseconds, this.#exchange?.sent === true))),
    );
    this.#leave = signal && this.#ending.follow(signal);
  }

  get leftMs(): number {
    return Math.max(0, this.#until - this.#clock.elapsed());
  }

  /** The result of the promise, or a timeout. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return unlessAborted(promise, this.#ending);
  }

  /** From here on the exchange ends with it. */
  attach(exchange: OutboundExchange): void {
    this.#exchange = exchange;
    if (this.#ending.aborted) exchange.fail(this.#ending.reason);
  }

  /** Nothing has to be ended any more. */
  release(): void {
    this.#stop();
    this.#leave?.();
  }
}

interface DeadlineOptions {
  readonly clock: Clock;
  readonly milliseconds: number;
  readonly signal: StopSignal | undefined;
}
