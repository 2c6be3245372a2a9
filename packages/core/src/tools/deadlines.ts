import type { Cancel, Clock } from '../ports.ts';

/**
 * Ends of long waits, nearly all of which never come. A timer for each costs more than a small tool does, so all share one
 * that looks a few times a second; a short wait has a timer of its own and is kept exactly.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #waiting = new Set<Deadline>();
  #isTicking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  after(milliseconds: number, callback: () => void): Cancel {
    if (milliseconds < SHORT_MS) return this.#clock.after(milliseconds, callback);
    const deadline = { at: this.#clock.elapsed() + milliseconds, callback };
    this.#waiting.add(deadline);
    if (!this.#isTicking) this.#tick();
    return () => this.#waiting.delete(deadline);
  }

  #tick(): void {
    this.#isTicking = true;
    this.#clock.after(TICK_MS, () => {
      this.#isTicking = false;
      const now = this.#clock.elapsed();
      for (const deadline of this.#waiting) {
        if (deadline.at > now) continue;
        this.#waiting.delete(deadline);
        deadline.callback();
      }
      if (this.#waiting.size > 0) this.#tick();
    });
  }
}

interface Deadline {
  readonly at: number;
  readonly callback: () => void;
}

const SHORT_MS = 2_000;
const TICK_MS = 200;
