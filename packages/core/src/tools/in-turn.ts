/** Runs the work of each key one after the other, and that of different keys at the same time. */
export class InTurn {
  readonly #last = new Map<string, Promise<void>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const result = before === undefined ? work() : before.then(work);
    const over = result.then(ignore, ignore);
    this.#last.set(key, over);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}

function ignore(): void {}
