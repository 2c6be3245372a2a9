import { SlidingWindows } from '../limits/sliding-window.ts';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { addressOf } from './callback-address.ts';

export interface CallbackLimitSettings {
  /** Callbacks of one sender that may wait. */
  readonly queuedPerSender: number;
  /** Callbacks per minute to one host from all senders without a key together. */
  readonly anonymousPerHost: number;
}

/** Keeps the outbox from being filled by one sender, and from being aimed at somebody by many. */
export class CallbackLimits {
  readonly #settings: CallbackLimitSettings;
  readonly #hosts: SlidingWindows;
  #counted = 0;

  constructor({ clock, settings }: { clock: Clock; settings: CallbackLimitSettings }) {
    this.#settings = settings;
    this.#hosts = new SlidingWindows({ clock });
  }

  /** Refuses a callback that is one too many. */
  check({ url, queued, isAnonymous }: { url: string; queued: number; isAnonymous: boolean }): void {
    const { queuedPerSender, anonymousPerHost: limit } = this.#settings;
    if (queued >= queuedPerSender) {
      refuse('rate_limited', { retry_after: 60 }, `Queue full: ${queued} callbacks of this sender wait already.`);
    }
    if (!isAnonymous) return;
    // A stranger names as many hosts as it likes.
    if (++this.#counted % PRUNE_EVERY === 0) this.#hosts.prune(2 * MINUTE);
    const window = { name: 'callbacks_per_minute', limit, seconds: MINUTE };
    // Whatever the port: a host has tens of thousands.
    const { allowed, states } = this.#hosts.take(new URL(addressOf(url)).hostname, [window]);
    if (allowed) return;
    refuse(
      'rate_limited',
      { retry_after: states[0]?.retryAfter ?? MINUTE, limit, window_seconds: MINUTE },
      `Too many callbacks to this host: senders without a key get ${limit} a minute.`,
    );
  }
}

const MINUTE = 60;
const PRUNE_EVERY = 1000;
