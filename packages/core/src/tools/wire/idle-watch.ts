import type { Cancel, Clock } from '../../ports/ports.ts';

export interface IdleWatchOptions {
  readonly clock: Clock;
  /** Silence after which the peer is gone; 0 for never. */
  readonly idleMs: number;
  readonly isBusy: () => boolean;
  /** For how long the peer has left unread what it is told, while more of it waits. */
  readonly unreadMs: () => number;
  /** Asks the peer whether it is there. */
  readonly ask: () => void;
  readonly onGone: () => void;
}

/**
 * A peer that is silent is asked whether it is there; one that stays silent, and has nothing running, is gone. So is one that
 * reads nothing, whatever it says and has running: what waits for it is held in memory.
 */
export class IdleWatch {
  readonly #options: IdleWatchOptions;
  #heardAt: number;
  /** Since it was last heard. */
  #isAsked = false;
  #cancel: Cancel | undefined;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#heardAt = options.clock.elapsed();
    if (options.idleMs > 0) this.#watch();
  }

  /** The peer said something. */
  heard(): void {
    if (this.#options.idleMs === 0) return;
    this.#heardAt = this.#options.clock.elapsed();
    this.#isAsked = false;
  }

  stop(): void {
    this.#cancel?.();
  }

  #watch(): void {
    const { clock, idleMs, isBusy, unreadMs, ask, onGone } = this.#options;
    this.#cancel = clock.after(idleMs / 2, () => {
      const silence = clock.elapsed() - this.#heardAt;
      // A moment that comes late may be the first at which it has been silent for long: nobody is gone who was not asked.
      if ((silence >= idleMs && this.#isAsked && !isBusy()) || unreadMs() >= idleMs) return onGone();
      if (silence >= idleMs / 2) {
        this.#isAsked = true;
        ask();
      }
      this.#watch();
    });
  }
}
