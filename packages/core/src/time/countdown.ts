import type { Ask } from '../call/ask.ts';
import type { Cancel } from '../ports/ports.ts';

/** The parts of a clock that a countdown needs. */
export interface CountdownClock {
  elapsed(): number;
  after(milliseconds: number, callback: () => void): Cancel;
}

/** Calls back after some time. The time in which a question to a person is open does not count. */
export class Countdown {
  readonly #clock: CountdownClock;
  readonly #onOver: () => void;
  #left: number;
  #startedAt: number;
  #cancel: Cancel;
  #questions = 0;
  #isOver = false;

  constructor(milliseconds: number, clock: CountdownClock, onOver: () => void) {
    this.#clock = clock;
    this.#left = milliseconds;
    this.#startedAt = clock.elapsed();
    this.#onOver = onOver;
    this.#cancel = clock.after(milliseconds, onOver);
  }

  /** Stops it for good. */
  readonly cancel: Cancel = () => {
    this.#isOver = true;
    this.#cancel();
  };

  /** Wraps `ask` so that the countdown pauses until the answer arrives. */
  pausing(ask: Ask): Ask {
    return async (question, options) => {
      this.pause();
      try {
        return await ask(question, options);
      } finally {
        this.resume();
      }
    };
  }

  /** Pauses until `resume` was called as often as `pause`. */
  pause(): void {
    this.#questions += 1;
    if (this.#questions > 1) return;
    this.#cancel();
    this.#left -= this.#clock.elapsed() - this.#startedAt;
  }

  resume(): void {
    this.#questions -= 1;
    if (this.#questions > 0 || this.#isOver) return;
    this.#startedAt = this.#clock.elapsed();
    this.#cancel = this.#clock.after(Math.max(this.#left, 0), this.#onOver);
  }
}
