import type { Cancel, Clock, Log } from '../ports/ports.ts';
import { StoreError } from '../store/store-error.ts';

export interface StoreClockOptions {
  /** Epoch milliseconds, by the clock of the database. */
  readonly read: () => Promise<number>;
  /** Of this machine. */
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The time of the database, which all nodes share: it decides what has expired or is old enough to be deleted. Between two looks it advances
 * by elapsed time.
 */
export class StoreClock implements Clock {
  readonly #options: StoreClockOptions;
  /** The time of the database at elapsed time 0. */
  #zero: number;
  #hasWarned = false;

  private constructor(options: StoreClockOptions, zero: number) {
    this.#options = options;
    this.#zero = zero;
  }

  /** Throws where the clock of this machine is so wrong that more than this server depends on it. */
  static async open(options: StoreClockOptions): Promise<StoreClock> {
    const { zero } = await look(options);
    const clock = new StoreClock(options, zero);
    if (Math.abs(clock.#skew) > REFUSED_MS) {
      throw new StoreError('store_unreachable', `${clock.#skewText}. Set it, for example with NTP, and start again.`);
    }
    clock.#warn();
    return clock;
  }

  now(): Date {
    return new Date(this.#zero + this.elapsed());
  }

  elapsed(): number {
    return this.#options.clock.elapsed();
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#options.clock.wait(milliseconds, signal);
  }

  after(milliseconds: number, callback: () => void): Cancel {
    return this.#options.clock.after(milliseconds, callback);
  }

  /** Looks again. A slow answer is ignored, and so are differences that its delay explains. */
  async look(): Promise<void> {
    const { zero, uncertainty } = await look(this.#options);
    const isNews = Math.abs(zero - this.#zero) > Math.max(SMALL_MS, uncertainty);
    if (isNews && uncertainty < LONG_MS) this.#zero = zero;
    this.#warn();
  }

  /** How far the clock of this machine is ahead. */
  get #skew(): number {
    return this.#options.clock.now().getTime() - this.now().getTime();
  }

  get #skewText(): string {
    const seconds = Math.round(Math.abs(this.#skew) / 1000);
    return `The clock of this machine is ${seconds} s ${this.#skew > 0 ? 'ahead of' : 'behind'} that of the database`;
  }

  /** Once each time the clock becomes wrong. */
  #warn(): void {
    const isWrong = Math.abs(this.#skew) > WARNED_MS;
    if (isWrong && !this.#hasWarned) {
      this.#options.log.warn({ skew_ms: Math.round(this.#skew) }, `${this.#skewText}; the database's is used`);
    }
    this.#hasWarned = isWrong;
  }
}

async function look({
  read,
  clock,
}: StoreClockOptions): Promise<{ readonly zero: number; readonly uncertainty: number }> {
  const sentAt = clock.elapsed();
  const time = await read();
  const receivedAt = clock.elapsed();
  // The best estimate: the clock was read half way through the query.
  return { zero: time - (sentAt + receivedAt) / 2, uncertainty: (receivedAt - sentAt) / 2 };
}

const WARNED_MS = 5_000;
const REFUSED_MS = 60_000;
const SMALL_MS = 5;
const LONG_MS = 500;
