/**
 * Decides which answer of one connection is read next. Only that one holds frames in memory; the others
 * are on the disk until then, however many there are.
 */
export class ReadingTurns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is this one's turn, first come first served; call what it gives to end it. */
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
