/** What has to end when the server does. Parts end one after the other, the last begun first, whatever the others do. */
export class Endings {
  readonly #ends: End[] = [];

  add(end: End): void {
    this.#ends.unshift(end);
  }

  /** Ends everything; throws the first fault when all have had their turn. */
  async end(drainMs: number): Promise<void> {
    const faults: unknown[] = [];
    for (const end of this.#ends.splice(0)) {
      try {
        await end(drainMs);
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}

/** Ends one part, and lets what runs in it finish for so long. */
type End = (drainMs: number) => PromiseLike<unknown>;
