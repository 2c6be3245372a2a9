import type { E2AResponse } from '@dragoman/protocols';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { frameText } from '../runs/frame-text.ts';
import { type AnonymousStore, RECORD_BYTES } from '../store/anonymous.ts';
import type { PurgeTime } from '../time/purge-time.ts';

export interface AnonymousQuotaSettings {
  /** The bytes that all senders without a key may use on the disk together. */
  readonly bytes: number;
  /** How long their messages and answers are kept. */
  readonly keepMs: number;
}

/**
 * Limits the disk space of senders without a key. Messages are counted as they arrive; above the limit, the store counts
 * again and removes the oldest, down to seven eighths of the limit, so that one sweep makes room for many messages.
 */
export class AnonymousQuota {
  readonly #store: AnonymousStore;
  readonly #clock: Clock;
  readonly #purgeTime: Pick<PurgeTime, 'now'>;
  readonly #settings: AnonymousQuotaSettings;
  #used = 0;
  #sweeping: Promise<void> | undefined;
  #isCounted = false;
  /** The store is not swept again before this time of the monotonic clock. */
  #pausedUntil = 0;

  constructor({ store, clock, purgeTime, settings }: AnonymousQuotaOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#purgeTime = purgeTime;
    this.#settings = settings;
  }

  /** Counts the bytes on the disk, and removes messages that are too old or above the limit. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  /** Reserves space for a message of this size. Refuses it when the remaining messages are all in progress. */
  async admit(messageBytes: number): Promise<void> {
    // A message is recorded twice: as received and as an envelope.
    const bytes = 2 * messageBytes + RECORD_BYTES;
    // Messages of an earlier process count, too.
    if (!this.#isCounted) await this.sweep();
    const isTooMuch = () => this.#used + bytes > this.#settings.bytes;
    if (isTooMuch() && this.#clock.elapsed() >= this.#pausedUntil) await this.sweep();
    if (isTooMuch()) refuse('busy', { retry_after: 60 }, FULL);
    this.#used += bytes;
  }

  /** Counts a frame of an answer. With a callback, the answer is stored twice. */
  readonly count = (frame: E2AResponse, { hasCallback }: { readonly hasCallback: boolean }): void => {
    this.#used += Buffer.byteLength(frameText(frame)) * (hasCallback ? 2 : 1);
  };

  async #sweep(): Promise<void> {
    const { bytes, keepMs } = this.#settings;
    const before = this.#used;
    const keepBytes = (bytes * 7) / 8;
    const left = await this.#store.sweep({ keepBytes, before: this.#purgeTime.now() - keepMs });
    // Messages received during the sweep may be counted twice; the next sweep corrects that.
    this.#used = left + (this.#used - before);
    this.#isCounted = true;
    if (left > keepBytes) this.#pausedUntil = this.#clock.elapsed() + PAUSE_MS;
  }
}

export interface AnonymousQuotaOptions {
  readonly store: AnonymousStore;
  readonly clock: Clock;
  readonly purgeTime: Pick<PurgeTime, 'now'>;
  readonly settings: AnonymousQuotaSettings;
}

/** The pause between sweeps when unfinished requests leave too little to remove. */
const PAUSE_MS = 1000;
const FULL = 'The storage for senders without a key is full. Try again later, or send a key.';
