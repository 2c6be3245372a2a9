import type { Principal } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';

/** How many requests and WebSockets each caller has open at the same time: one of them must not take every place there is. */
export class CallerPlaces {
  readonly #most: number;
  /** Zero for callers without one; entries are kept. */
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Why there is no place left, or nothing: then it must be given back. */
  take({ id }: Principal): Failure | undefined {
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= this.#most) {
      return failure(
        'rate_limited',
        { limit: this.#most, retry_after: 1 },
        `You have reached the limit of ${taken} open requests and connections for one caller.`,
      );
    }
    this.#taken.set(id, taken + 1);
    return undefined;
  }

  giveBack({ id }: Principal): void {
    this.#taken.set(id, (this.#taken.get(id) ?? 1) - 1);
  }
}
