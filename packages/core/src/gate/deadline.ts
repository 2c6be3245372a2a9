import { Ending, type StopSignal } from '../ending/ending.ts';
import { unlessAborted } from '../ending/until-aborted.ts';
import type { Cancel, Clock } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import type { OutboundExchange } from './exchange.ts';
import { late } from './gate-failure.ts';

/** The time limit of one exchange, including its body. It also ends the exchange when the caller's signal aborts. */
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

  /** Settles like the promise, or rejects when the deadline ends first. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return unlessAborted(promise, this.#ending);
  }

  /** Ends the exchange when this deadline ends. */
  attach(exchange: OutboundExchange): void {
    this.#exchange = exchange;
    if (this.#ending.aborted) exchange.fail(this.#ending.reason);
  }

  /** Cancels the deadline, because the exchange is over. */
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
