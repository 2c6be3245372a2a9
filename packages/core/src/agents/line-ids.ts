import type { Ids } from '../ports/ports.ts';

/**
 * The ids of requests on one connection. Two callers may choose the same id, and a late frame for a cancelled request must not
 * reach another request with its id. So each id is used once on a connection: unchanged the first time, with a suffix after that.
 */
export class LineIds {
  readonly #ids: Ids;
  readonly #used = new Set<string>();

  constructor(ids: Ids) {
    this.#ids = ids;
  }

  next(requestId: string | null): string {
    if (requestId === null) return this.#ids.hex();
    const isFresh = requestId.length <= LONGEST && this.#used.size < REMEMBERED && !this.#used.has(requestId);
    if (!isFresh) return `${requestId.slice(0, LONGEST)}~${this.#ids.hex()}`;
    this.#used.add(requestId);
    return requestId;
  }
}

/** How many ids are remembered. After that every id gets a suffix, so it does not have to be remembered. */
const REMEMBERED = 20_000;
const LONGEST = 128;
