/**
 * Combines waiting writes into one statement in one transaction. A group has at most one item per row, and the items of
 * a row are written in their order.
 */
export class Group<Item, Result> {
  readonly #options: GroupOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  readonly #busy = new Set<string>();
  #running = 0;
  #isScheduled = false;

  constructor(options: GroupOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, key: this.#options.keyOf(item), resolve, reject });
      this.#schedule();
    });
  }

  /** Starts a group after all items of this turn of the event loop were added. */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= LANES) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    const group: Waiting<Item, Result>[] = [];
    const later: Waiting<Item, Result>[] = [];
    const passed = new Set<string>();
    for (const waiting of this.#waiting) {
      const { key } = waiting;
      if (group.length >= MOST || this.#busy.has(key) || passed.has(key)) {
        later.push(waiting);
        passed.add(key);
      } else {
        group.push(waiting);
        passed.add(key);
      }
    }
    this.#waiting = later;
    if (group.length === 0) return;
    for (const { key } of group) this.#busy.add(key);
    this.#running += 1;
    void this.#run(group).finally(() => {
      this.#running -= 1;
      for (const { key } of group) this.#busy.delete(key);
      if (this.#waiting.length > 0) this.#schedule();
    });
    if (this.#waiting.length > 0) this.#schedule();
  }

  async #run(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.write(group.map(({ item }) => item));
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index];
        if (result instanceof Error) reject(result);
        else resolve(result as Result);
      }
    } catch (error) {
      // An error that one item caused must not fail the others. An unavailable database fails all of them.
      if (group.length > 1 && !('code' in Object(error) && Object(error).code === 'store_unavailable')) {
        for (const one of group) await this.#run([one]);
      } else for (const { reject } of group) reject(error);
    }
  }
}

interface GroupOptions<Item, Result> {
  /** Names the row that the item writes. */
  readonly keyOf: (item: Item) => string;
  /** Returns the result of each item in their order, or an error for an item that was refused. */
  readonly write: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly key: string;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** How many groups may be written at once. */
const LANES = 2;
const MOST = 256;
