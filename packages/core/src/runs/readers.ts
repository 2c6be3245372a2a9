/** Counts the readers of an answer that is to end when its last reader leaves. */
export class Readers {
  readonly #onLastLeft: () => void;
  #present = 0;

  constructor(onLastLeft: () => void) {
    this.#onLastLeft = onLastLeft;
  }

  get isEmpty(): boolean {
    return this.#present === 0;
  }

  /** Counts a reader until its signal aborts. */
  add(signal: AbortSignal): void {
    this.#present += 1;
    const leave = () => {
      this.#present -= 1;
      if (this.#present === 0) this.#onLastLeft();
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }
}
