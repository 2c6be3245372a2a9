import type { Ids } from '../ports/ports.ts';

/**
 * The ids that requests have on one connection. Callers choose theirs, and two callers may choose the same; a frame
 * that comes late, for a request long cancelled, must not reach another that was given its id. So an id is used once on
 * a connection: as the caller wrote it the first time, with an ending of ours from then on.
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

/** Bounds what is remembered. Past it every id gets an ending, and none needs to be remembered. */
const REMEMBERED = 20_000;
const LONGEST = 128;
