import type { E2AResponse } from '@dragoman/protocols';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { frameText } from '../runs/frame-text.ts';
import { type AnonymousStore, RECORD_BYTES } from '../store/anonymous.ts';
import type { PurgeTime } from '../time/purge-time.ts';

export interface AnonymousQuotaSettings {
  /** Bytes that all senders without a key have on the disk together. */
  readonly bytes: number;
  /** How long their messages and answers are kept. */
  readonly keepMs: number;
}

/**
 * How much senders without a key may have on the disk. What they add is counted as it comes; when that is too much, the store
 * counts again and removes the oldest, down to seven eighths, so that it does so once for many messages.
 */
export class AnonymousQuota {
  readonly #store: AnonymousStore;
  readonly #clock: Clock;
  readonly #purgeTime: Pick<PurgeTime, 'now'>;
  readonly #settings: AnonymousQuotaSettings;
  #used = 0;
  #sweeping: Promise<void> | undefined;
  #isCounted = false;
  /** Until then the store is not asked again, by the clock that nobody sets. */
  #pausedUntil = 0;

  constructor({ store, clock, purgeTime, settings }: AnonymousQuotaOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#purgeTime = purgeTime;
    this.#settings = settings;
  }

  /** Counts what is on the disk, and removes what is too old or too much. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  /** Room for a message of this size, or a refusal: then everything there is is still under way. */
  async admit(messageBytes: number): Promise<void> {
    // It is recorded as it came and as an envelope.
    const bytes = 2 * messageBytes + RECORD_BYTES;
    // What an earlier process left counts.
    if (!this.#isCounted) await this.sweep();
    const isTooMuch = () => this.#used + bytes > this.#settings.bytes;
    if (isTooMuch() && this.#clock.elapsed() >= this.#pausedUntil) await this.sweep();
    if (isTooMuch()) refuse('busy', { retry_after: 60 }, FULL);
    this.#used += bytes;
  }

  /** Counts a frame of an answer, which a callback holds once more. */
  readonly count = (frame: E2AResponse, { hasCallback }: { readonly hasCallback: boolean }): void => {
    this.#used += Buffer.byteLength(frameText(frame)) * (hasCallback ? 2 : 1);
  };

  async #sweep(): Promise<void> {
    const { bytes, keepMs } = this.#settings;
    const before = this.#used;
    const keepBytes = (bytes * 7) / 8;
    const left = await this.#store.sweep({ keepBytes, before: this.#purgeTime.now() - keepMs });
    // What came meanwhile may or may not be in it: counted twice, it is put right the next time.
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

/** Where too much is under way to make room, the store is not asked again with every message. */
const PAUSE_MS = 1000;
const FULL = 'The storage for senders without a key is full. Try again later, or send a key.';
