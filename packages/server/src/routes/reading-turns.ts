/**
 * Decides which answer of one connection is read next. Only that one holds frames in memory; the others
 * are on the disk until then, however many there are.
 */
export class ReadingTurns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in order of arrival, with a function that ends the turn. */
  async take(): Promise<() => void> {
    const before = this.#last;
    let end = () => {};
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  }
}
