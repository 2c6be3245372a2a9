import type { Cancel, Clock } from '@dragoman/core';

/** A reading of the counters, taken every ten seconds. All but `running` and `waiting` only grow. */
export interface CounterReading {
  readonly accepted: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly frames: number;
  readonly commits: number;
  readonly running: number;
  readonly waiting: number;
}

export interface TimedReading extends CounterReading {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Keeps the counters of the last hour in memory, for charts. */
export class RecentHour {
  readonly #clock: Clock;
  readonly #read: () => Promise<CounterReading>;
  readonly #readings: TimedReading[] = [];
  #cancel: Cancel | undefined;

  constructor(clock: Clock, read: () => Promise<CounterReading>) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Oldest first. */
  get readings(): readonly TimedReading[] {
    return this.#readings;
  }

  async now(): Promise<TimedReading> {
    return { at: this.#clock.now().getTime(), ...(await this.#read()) };
  }

  start(): void {
    const again = () => {
      this.#cancel = this.#clock.after(READING_EVERY_MS, () => {
        void this.#take();
        again();
      });
    };
    void this.#take();
    again();
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Takes a reading. A store that does not answer leaves a gap in the chart. */
  async #take(): Promise<void> {
    try {
      this.#readings.push(await this.now());
      if (this.#readings.length > MOST_READINGS) this.#readings.shift();
    } catch {
      // The next reading follows in ten seconds.
    }
  }
}

export const READING_EVERY_MS = 10_000;
/** An hour. */
const MOST_READINGS = 360;
