import type { Clock } from '../../ports/ports.ts';

/**
 * Limits a server's unsolicited messages: notifications, answers to unknown requests, and invalid lines. Beyond
 * `MOST_NOTICES` a second they are dropped; beyond `FLOOD`, or `FLOOD_BYTES`, `onFlood` is called.
 */
export class NoticeLimit {
  readonly #clock: Clock;
  readonly #onFlood: () => void;
  #second = Number.NEGATIVE_INFINITY;
  #notices = 0;
  #bytes = 0;
  #bytesSince = Number.NEGATIVE_INFINITY;

  constructor({ clock, onFlood }: { readonly clock: Clock; readonly onFlood: () => void }) {
    this.#clock = clock;
    this.#onFlood = onFlood;
  }

  /** Whether the message is to be handled. */
  takes(count = 1): boolean {
    const now = this.#clock.elapsed();
    if (now - this.#second >= 1000) {
      this.#second = now;
      this.#notices = 0;
    }
    const before = this.#notices;
    this.#notices += count;
    if (before < FLOOD && this.#notices >= FLOOD) this.#onFlood();
    return this.#notices <= MOST_NOTICES;
  }

  /** Counts everything received; answers are subtracted once they are recognized. */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    // The clock is read rarely, because answers are counted here, too.
    if (this.#bytes < FLOOD_BYTES) return;
    const now = this.#clock.elapsed();
    if (now - this.#bytesSince < 1000) this.#onFlood();
    this.#bytesSince = now;
    this.#bytes = 0;
  }
}

const MOST_NOTICES = 500;
const FLOOD = 10_000;
/** Longer than the longest line, which may be an incomplete answer. */
const FLOOD_BYTES = 32 * 1024 * 1024;
