import type { Cancel, Clock } from '../../ports/ports.ts';

export interface IdleWatchOptions {
  readonly clock: Clock;
  /** Silence after which the peer is gone; 0 for never. */
  readonly idleMs: number;
  readonly isBusy: () => boolean;
  /** How long the peer has not read its messages, while more of them wait. */
  readonly unreadMs: () => number;
  /** Asks the peer whether it is there. */
  readonly ask: () => void;
  readonly onGone: () => void;
}

/**
 * A silent peer gets a ping; one that stays silent, and has nothing running, is gone. So is one that
 * reads nothing, whatever it says and has running: what waits for it is held in memory.
 */
export class IdleWatch {
  readonly #options: IdleWatchOptions;
  #heardAt: number;
  /** Since its last message. */
  #isPinged = false;
  #cancel: Cancel | undefined;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#heardAt = options.clock.elapsed();
    if (options.idleMs > 0) this.#watch();
  }

  /** The peer sent something. */
  received(): void {
    if (this.#options.idleMs === 0) return;
    this.#heardAt = this.#options.clock.elapsed();
    this.#isPinged = false;
  }

  stop(): void {
    this.#cancel?.();
  }

  #watch(): void {
    const { clock, idleMs, isBusy, unreadMs, ask, onGone } = this.#options;
    this.#cancel = clock.after(idleMs / 2, () => {
      const silence = clock.elapsed() - this.#heardAt;
      // A late timer may be the first to see the long silence: a peer that got no ping is not gone.
      if ((silence >= idleMs && this.#isPinged && !isBusy()) || unreadMs() >= idleMs) return onGone();
      if (silence >= idleMs / 2) {
        this.#isPinged = true;
        ask();
      }
      this.#watch();
    });
  }
}
