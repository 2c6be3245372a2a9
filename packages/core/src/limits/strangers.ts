import { type Failure, failure } from '@dragoman/protocols';
import type { Clock } from '../ports/ports.ts';
import { SlidingWindows } from './sliding-window.ts';

/**
 * Slows down who sends keys and messages that prove nobody: so many from one address in a minute, then nothing more of it is
 * looked at. What is proven counts for its sender, and never here.
 */
export class Strangers {
  readonly #windows: SlidingWindows;
  readonly #window: { readonly name: string; readonly limit: number; readonly seconds: number };
  #failures = 0;

  constructor({ clock, perMinute }: { clock: Clock; perMinute: number }) {
    this.#windows = new SlidingWindows({ clock });
    this.#window = { name: 'unproven', limit: perMinute, seconds: MINUTE };
  }

  /** Why nothing of this address is looked at for now. */
  refuse(address: string): Failure | undefined {
    const [state] = this.#windows.states(address, [this.#window]);
    if (state === undefined || state.remaining >= 1) return undefined;
    const message = 'Too many keys or messages from this address proved nobody.';
    return failure('rate_limited', { retry_after: state.retryAfter, limit: this.#window.limit }, message);
  }

  /** A key or a message from there proved nobody. */
  failed(address: string): void {
    if (++this.#failures % PRUNE_EVERY === 0) this.#windows.prune(2 * MINUTE);
    this.#windows.take(address, [this.#window]);
  }
}

const MINUTE = 60;
const PRUNE_EVERY = 1000;
