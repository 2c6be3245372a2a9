import type { Principal } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';

/**
 * Limits how many requests and WebSockets each caller has open, so that no caller can take every place of the server.
 */
export class CallerPlaces {
  readonly #most: number;
  /** By caller. A caller that has released all its places keeps its entry, with 0. */
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place, which must be given back, and returns `undefined`; or returns why there is none left. */
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
