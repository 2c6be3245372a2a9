import type { Clock } from '@dragoman/core';

/** Wrong keys from one address. */
export interface FailedLogin {
  readonly address: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/**
 * Counts the wrong keys since the start, in memory: all of them, and by address for the addresses that sent the latest
 * ones.
 */
export class FailedLogins {
  readonly #clock: Clock;
  /** In the order of the latest wrong key, the newest at the end. */
  readonly #byAddress = new Map<string, FailedLogin>();
  #total = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get total(): number {
    return this.#total;
  }

  /** By address, the newest first. */
  get recent(): FailedLogin[] {
    return [...this.#byAddress.values()].reverse();
  }

  add(address: string): void {
    this.#total += 1;
    const lastAt = this.#clock.now();
    const { count = 0, firstAt = lastAt } = this.#byAddress.get(address) ?? {};
    this.#byAddress.delete(address);
    this.#byAddress.set(address, { address, count: count + 1, firstAt, lastAt });
    // The map is bounded: anyone can send wrong keys from many addresses.
    if (this.#byAddress.size > MOST_ADDRESSES) this.#byAddress.delete(this.#byAddress.keys().next().value ?? '');
  }
}

const MOST_ADDRESSES = 100;
