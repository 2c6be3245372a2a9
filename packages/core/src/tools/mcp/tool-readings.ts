import type { Clock } from '../../ports/ports.ts';
import type { McpDefinition } from './mcp-definition.ts';

export interface ToolReadingsOptions {
  readonly clock: Clock;
  /** Set when the list is not needed any more. */
  readonly signal: AbortSignal;
  /** Asks the server. */
  readonly list: () => Promise<readonly McpDefinition[]>;
  readonly take: (definitions: readonly McpDefinition[]) => Promise<void>;
}

/**
 * The readings of a server's tools, on one connection. A server can announce changed tools without end: one
 * list is read at a time, at most one more waits, and after a few at once one a second is read.
 */
export class ToolReadings {
  readonly #options: ToolReadingsOptions;
  #listing: Promise<unknown> = Promise.resolve();
  /** The one that waits for its turn. */
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();
  /** When the next one could be read, if one a second had been read from the beginning. */
  #due = Number.NEGATIVE_INFINITY;

  constructor(options: ToolReadingsOptions) {
    this.#options = options;
  }

  /** Resolves when what the server lists after this has been taken. */
  read(): Promise<void> {
    this.#next ??= this.#readInTurn();
    this.#last = this.#next;
    return this.#last;
  }

  /** Some say at once that their tools have changed: those readings are waited for too, as far as there is no pause. */
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
    // Not a part of the turn: a list that comes later is looked at although this one still is.
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
