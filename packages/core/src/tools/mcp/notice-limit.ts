import type { Clock } from '../../ports/ports.ts';

/**
 * Limits unsolicited messages of a server. Answers were requested; everything else arrives at the sender's will: notifications,
 * answers to unknown requests, invalid lines. Past a number per second they are dropped, and past many more, or
 * very many bytes, it is a flood, which is reported once a second.
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
    // The clock is read only now and then: answers pass here too.
    if (this.#bytes < FLOOD_BYTES) return;
    const now = this.#clock.elapsed();
    if (now - this.#bytesSince < 1000) this.#onFlood();
    this.#bytesSince = now;
    this.#bytes = 0;
  }
}

const MOST_NOTICES = 500;
const FLOOD = 10_000;
/** More than the longest line, which may be an answer that is not whole yet. */
const FLOOD_BYTES = 32 * 1024 * 1024;
