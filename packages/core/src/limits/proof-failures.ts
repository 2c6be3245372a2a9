import { type Failure, failure } from '@dragoman/protocols';
import type { Clock } from '../ports/ports.ts';
import { SlidingWindows } from './sliding-window.ts';

/**
 * Limits invalid keys and signatures: after too many from one address in a minute, nothing from it is read for a while.
 * Messages of proven senders are not counted here.
 */
export class ProofFailures {
  readonly #windows: SlidingWindows;
  readonly #window: { readonly name: string; readonly limit: number; readonly seconds: number };
  #failures = 0;

  constructor({ clock, perMinute }: { clock: Clock; perMinute: number }) {
    this.#windows = new SlidingWindows({ clock });
    this.#window = { name: 'unproven', limit: perMinute, seconds: MINUTE };
  }

  /** Why nothing from this address is read at the moment. */
  refuse(address: string): Failure | undefined {
    const [state] = this.#windows.states(address, [this.#window]);
    if (state === undefined || state.remaining >= 1) return undefined;
    const message = 'Too many invalid keys or signatures from this address.';
    return failure('rate_limited', { retry_after: state.retryAfter, limit: this.#window.limit }, message);
  }

  /** Counts an invalid key or signature from an address. */
  failed(address: string): void {
    if (++this.#failures % PRUNE_EVERY === 0) this.#windows.prune(2 * MINUTE);
    this.#windows.take(address, [this.#window]);
  }
}

const MINUTE = 60;
const PRUNE_EVERY = 1000;
