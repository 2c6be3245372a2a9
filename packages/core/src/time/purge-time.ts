import type { Clock, Log } from '../ports/ports.ts';
import { ONE_HOUR } from './every-hour.ts';

/**
 * The current time, for deleting old data. A wall clock that jumps ahead must not cause everything to be deleted. So
 * within a process, the time is the smaller of wall and monotonic time. If a start finds a jump of more than a day, the
 * time stays at that of the newest stored data for an hour, so that an operator can correct the clock.
 */
export class PurgeTime {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Wall time at elapsed time 0, as it was at the start. */
  readonly #startedAt: number;
  #held: { readonly at: number; readonly until: number } | undefined;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
    this.#startedAt = clock.now().getTime() - clock.elapsed();
  }

  /** Call it before anything is deleted. `newest`: when something was last stored; 0 for an empty store. */
  start(newest: number): void {
    const now = this.now();
    if (newest === 0 || now - newest <= 24 * ONE_HOUR) return;
    this.#held = { at: newest, until: this.#clock.elapsed() + ONE_HOUR };
    this.#log.warn(
      { now: new Date(now).toISOString(), newest: new Date(newest).toISOString() },
      'the clock is more than a day after the newest stored data: nothing is deleted for an hour; check the clock',
    );
  }

  /** Epoch milliseconds, as an integer because PostgreSQL refuses fractions. */
  now(): number {
    const held = this.#held;
    if (held !== undefined && this.#clock.elapsed() < held.until) return held.at;
    return Math.floor(Math.min(this.#clock.now().getTime(), this.#startedAt + this.#clock.elapsed()));
  }
}
