/** How long to wait before trying again: 1, 2, 4 … 60 seconds. */
export class Backoff {
  #failures = 0;

  /** Milliseconds to wait after one more failure. */
  next(): number {
    return Math.min(1000 * 2 ** this.#failures++, LONGEST);
  }

  /** Call it after a success: the next wait is one second again. */
  reset(): void {
    this.#failures = 0;
  }
}

const LONGEST = 60_000;
