/**
 * Decides which answer of one connection is read next. Only that answer has frames in memory; the others wait in the
 * journal.
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
