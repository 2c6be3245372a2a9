import type { Cancel, Clock } from '../../ports/ports.ts';

export interface IdleWatchOptions {
  readonly clock: Clock;
  /** Silence after which the peer is gone; 0 for never. */
  readonly idleMs: number;
  readonly isBusy: () => boolean;
  /** Milliseconds since the peer last read, while messages wait. */
  readonly unreadMs: () => number;
  /** Sends a ping. */
  readonly ask: () => void;
  readonly onGone: () => void;
}

/**
 * Sends a ping to a silent peer. A peer that stays silent with nothing running is gone. So is one that reads nothing,
 * even if it sends messages or has requests running, because its unread messages are kept in memory.
 */
export class IdleWatch {
  readonly #options: IdleWatchOptions;
  #heardAt: number;
  /** Whether a ping was sent since the peer's last message. */
  #isPinged = false;
  #cancel: Cancel | undefined;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#heardAt = options.clock.elapsed();
    if (options.idleMs > 0) this.#watch();
  }

  /** Call it when the peer has sent something. */
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
      // A delayed timer may notice the whole silence at once; a peer that got no ping is not gone.
      if ((silence >= idleMs && this.#isPinged && !isBusy()) || unreadMs() >= idleMs) return onGone();
      if (silence >= idleMs / 2) {
        this.#isPinged = true;
        ask();
      }
      this.#watch();
    });
  }
}
