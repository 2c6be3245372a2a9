import { SlidingWindows } from '../limits/sliding-window.ts';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { addressOf } from './callback-address.ts';

export interface CallbackLimitSettings {
  /** How many callbacks of one sender may wait. */
  readonly queuedPerSender: number;
  /** How many callbacks per minute all senders without a key together may have sent to one host. */
  readonly anonymousPerHost: number;
}

/** Keeps one sender from filling the outbox, and many senders from flooding one host. */
export class CallbackLimits {
  readonly #settings: CallbackLimitSettings;
  readonly #hosts: SlidingWindows;
  #counted = 0;

  constructor({ clock, settings }: { clock: Clock; settings: CallbackLimitSettings }) {
    this.#settings = settings;
    this.#hosts = new SlidingWindows({ clock });
  }

  /** Refuses a callback above a limit. */
  check({ url, queued, isAnonymous }: { url: string; queued: number; isAnonymous: boolean }): void {
    const { queuedPerSender, anonymousPerHost: limit } = this.#settings;
    if (queued >= queuedPerSender) {
      refuse('rate_limited', { retry_after: 60 }, `Queue full: ${queued} callbacks of this sender wait already.`);
    }
    if (!isAnonymous) return;
    // Anonymous senders can name any number of hosts.
    if (++this.#counted % PRUNE_EVERY === 0) this.#hosts.prune(2 * MINUTE);
    const window = { name: 'callbacks_per_minute', limit, seconds: MINUTE };
    // The port is ignored, because a host has tens of thousands of ports.
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
