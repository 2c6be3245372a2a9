import type { Clock } from '../../ports/ports.ts';

/**
 * How much a server may say by itself. An answer was asked for; everything else comes as often as its sender likes: notifications,
 * answers to nobody's question, lines that are no message. Past so many a second they are left out, and past many more, or
 * very many bytes, it is a flood, which is told once a second.
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

  /** Whether what came is to be looked at. */
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

  /** Of all that comes; those that were asked for are taken off again when it is known that they were. */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    // The time is asked for only now and then: answers come this way too.
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
