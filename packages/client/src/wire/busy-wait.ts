/**
 * Keeps the event loop busy for a moment while an answer is awaited, because waking a sleeping process takes longer
 * than a small call over stdio.
 */
export class BusyWait {
  readonly #soon: (callback: () => void) => void;
  /** Turns that are left; 0 when nothing is awaited. */
  #turns = 0;
  #isTurning = false;

  /** `soon` must call back after the event loop has handled all input once, like `setImmediate` in Node. */
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
