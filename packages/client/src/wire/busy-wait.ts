/**
 * Keeps the event loop busy for a moment while an answer is awaited. A small call over stdio takes less time than waking a
 * process that sleeps, so a caller who makes one call at a time waits for the wake and not for the call.
 */
export class BusyWait {
  readonly #soon: (callback: () => void) => void;
  /** Turns that are left; 0 when nothing is awaited. */
  #turns = 0;
  #isTurning = false;

  /** `soon` calls back after the loop has looked once at all input: `setImmediate` in Node. */
  constructor(soon: (callback: () => void) => void) {
    this.#soon = soon;
  }

  begin(): void {
    this.#turns = MOST_TURNS;
    if (this.#isTurning) return;
    this.#isTurning = true;
    this.#soon(this.#turn);
  }

  end(): void {
    this.#turns = 0;
  }

  readonly #turn = (): void => {
    this.#turns = Math.max(0, this.#turns - 1);
    this.#isTurning = this.#turns > 0;
    if (this.#isTurning) this.#soon(this.#turn);
  };
}

/** About half a millisecond. */
const MOST_TURNS = 300;
