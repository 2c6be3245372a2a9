import type { Cancel, Clock } from '../ports/ports.ts';

/**
 * Timeouts that nearly always are cancelled. All long ones share one timer that checks a few times a second, because a
 * timer for each would cost more than a small tool. A short one has its own timer and is exact.
 */
export class Deadlines {
  readonly #clock: Clock;
  /** Unordered: the last one takes the place of one that is removed. */
  readonly #waiting: Deadline[] = [];
  #isTicking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  elapsed(): number {
    return this.#clock.elapsed();
  }

  after(milliseconds: number, callback: () => void): Cancel {
    if (milliseconds < SHORT_MS) return this.#clock.after(milliseconds, callback);
    const deadline = { at: this.#clock.elapsed() + milliseconds, callback, place: this.#waiting.length };
    this.#waiting.push(deadline);
    if (!this.#isTicking) this.#tick();
    return () => this.#forget(deadline);
  }

  #forget(deadline: Deadline): void {
    const { place } = deadline;
    if (this.#waiting[place] !== deadline) return;
    const last = this.#waiting.pop();
    if (last === undefined || last === deadline) return;
    this.#waiting[place] = last;
    last.place = place;
  }

  #tick(): void {
    this.#isTicking = true;
    this.#clock.after(TICK_MS, () => {
      this.#isTicking = false;
      const now = this.#clock.elapsed();
      const due = this.#waiting.filter(({ at }) => at <= now);
      for (const deadline of due) this.#forget(deadline);
      for (const { callback } of due) callback();
      if (this.#waiting.length > 0 && !this.#isTicking) this.#tick();
    });
  }
}

interface Deadline {
  readonly at: number;
  readonly callback: () => void;
  place: number;
}

const SHORT_MS = 2_000;
const TICK_MS = 200;
