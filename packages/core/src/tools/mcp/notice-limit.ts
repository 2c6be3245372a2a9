import { isObject, type Json } from '@dragoman/protocols';
import type { Clock } from '../../ports.ts';

/**
 * How much a server may say by itself. An answer was asked for; what comes by itself comes as often as its sender likes. Past
 * so many a second they are left out, and past many more it is a flood, which is told once a second.
 */
export class NoticeLimit {
  readonly #clock: Clock;
  readonly #onFlood: () => void;
  #second = Number.NEGATIVE_INFINITY;
  #notices = 0;

  constructor({ clock, onFlood }: { readonly clock: Clock; readonly onFlood: () => void }) {
    this.#clock = clock;
    this.#onFlood = onFlood;
  }

  /** Whether this message is to be looked at. */
  takes(message: Json): boolean {
    if (!isNotice(message)) return true;
    const now = this.#clock.elapsed();
    if (now - this.#second >= 1000) {
      this.#second = now;
      this.#notices = 0;
    }
    this.#notices += 1;
    if (this.#notices === FLOOD) this.#onFlood();
    return this.#notices <= MOST_NOTICES;
  }
}

function isNotice(message: Json): boolean {
  return isObject(message) && !Object.hasOwn(message, 'result') && !Object.hasOwn(message, 'error');
}

const MOST_NOTICES = 500;
const FLOOD = 10_000;
