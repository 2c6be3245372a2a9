/** Tracks the rows that this process is writing. Reading such a row may give an older state than the one in memory. */
export class OwnWrites {
  readonly #open = new Map<string, number>();
  /** During a reading, the ids of all rows that were being written since it began. */
  #written: Set<string> | undefined;
  #lastReading: Promise<unknown> = Promise.resolve();

  /** Writes one row. `write` must also change the memory before it resolves. */
  async of<Result>(id: string, write: () => Promise<Result>): Promise<Result> {
    this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
    try {
      return await write();
    } finally {
      const left = (this.#open.get(id) ?? 0) - 1;
      if (left > 0) this.#open.set(id, left);
      else this.#open.delete(id);
      this.#written?.add(id);
    }
  }

  /**
   * Reads rows and applies them, except those that this process is writing. False when there were such rows: they must
   * be read again. Readings run one after the other, so that older rows do not overwrite newer ones.
   */
  reading<Row>(
    read: () => Promise<readonly Row[]>,
    take: (rows: readonly Row[], isOwn: (id: string) => boolean) => void,
  ): Promise<boolean> {
    const done = this.#lastReading.then(async () => {
      const own = new Set(this.#open.keys());
      this.#written = own;
      try {
        const rows = await read();
        for (const id of this.#open.keys()) own.add(id);
        take(rows, (id) => own.has(id));
        return own.size === 0;
      } finally {
        this.#written = undefined;
      }
    });
    this.#lastReading = done.catch(() => {});
    return done;
  }
}
