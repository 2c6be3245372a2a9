import type { Clock } from '../../ports/ports.ts';
import type { McpDefinition } from './mcp-definition.ts';

export interface ToolReadingsOptions {
  readonly clock: Clock;
  /** Aborts when the list is not needed any more. */
  readonly signal: AbortSignal;
  /** Reads the list from the server. */
  readonly list: () => Promise<readonly McpDefinition[]>;
  readonly take: (definitions: readonly McpDefinition[]) => Promise<void>;
}

/**
 * Reads a server's tools on one connection. A server can announce changes without end, so one list is read at a time,
 * at most one more waits, and after the first few the rate is one a second.
 */
export class ToolReadings {
  readonly #options: ToolReadingsOptions;
  #listing: Promise<unknown> = Promise.resolve();
  /** The reading that waits for its turn. */
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();
  /** When the next reading is due at a rate of one a second; it may lie up to `AT_ONCE` readings in the past. */
  #due = Number.NEGATIVE_INFINITY;

  constructor(options: ToolReadingsOptions) {
    this.#options = options;
  }

  /** Resolves when a list that was requested after this call has been taken. */
  read(): Promise<void> {
    this.#next ??= this.#readInTurn();
    this.#last = this.#next;
    return this.#last;
  }

  /**
   * Reads the first list, and the readings that announcements cause meanwhile: some servers announce a change at once.
   */
  async readFirst(): Promise<void> {
    let reading = this.read();
    await reading;
    for (let again = 1; this.#last !== reading && again < AT_ONCE; again++) {
      reading = this.#last;
      await reading.catch(() => {});
    }
  }

  async #readInTurn(): Promise<void> {
    const { list, take } = this.#options;
    try {
      await this.#listing.catch(() => {});
      await this.#pause();
    } finally {
      this.#next = undefined;
    }
    const listing = list();
    this.#listing = listing;
    const definitions = await listing;
    // Outside the turn, so that a later list is read while this one is being taken.
    await take(definitions);
  }

  async #pause(): Promise<void> {
    const { clock, signal } = this.#options;
    const now = clock.elapsed();
    this.#due = Math.max(this.#due, now - AT_ONCE * PAUSE_MS) + PAUSE_MS;
    if (this.#due > now) await clock.wait(this.#due - now, signal);
  }
}

const AT_ONCE = 3;
const PAUSE_MS = 1_000;
