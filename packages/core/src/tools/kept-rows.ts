import { createHash } from 'node:crypto';
import type { Json } from '@dragoman/protocols';
import type { Clock } from '../ports/ports.ts';
import type { MemoriesStore, MemoryQuota } from '../store/memories.ts';
import { InTurn } from './in-turn.ts';
import { WireRefused } from './wire/wire-refused.ts';

export interface KeptRowsOptions {
  readonly store: MemoriesStore;
  readonly clock: Clock;
  /** The kind of the rows; different kinds are separate. */
  readonly kind: string;
  readonly quota?: MemoryQuota;
}

/** The rows of one caller that share a name, such as that of a session. */
export interface RowPlace {
  readonly owner: string;
  readonly name: string;
}

export interface KeptRow<Value> {
  readonly key: string;
  readonly value: Value;
}

/**
 * The rows that a plugin stores for its callers, on disk before they are acknowledged. They count against the same
 * quota as the caller's memories and are deleted with them.
 */
export class KeptRows<Value extends Json> {
  readonly #options: KeptRowsOptions;
  readonly #quota: MemoryQuota;
  readonly #changes = new InTurn();

  constructor(options: KeptRowsOptions) {
    this.#options = options;
    this.#quota = options.quota ?? QUOTA;
  }

  /** The rows of a place, oldest first. */
  async list(place: RowPlace): Promise<KeptRow<Value>[]> {
    const rows = await this.#options.store.list(this.#space(place), this.#now());
    return rows.map(({ entry }) => JSON.parse(entry) as KeptRow<Value>).reverse();
  }

  /** Adds a row, or replaces the one with its key. False if the quota is exceeded. */
  async put(place: RowPlace, key: string, value: Value): Promise<boolean> {
    const now = this.#now();
    const row = {
      space: this.#space(place),
      key: digest(['key', key]),
      owner: place.owner,
      entry: JSON.stringify({ key, value }),
      createdAt: now,
      updatedAt: now,
      expiresAt: null,
    };
    return (await this.#options.store.put(row, this.#quota)) === 'stored';
  }

  /** Like `put`, but throws `memory_full` if the quota is exceeded. */
  async keep(place: RowPlace, key: string, value: Value): Promise<void> {
    if (await this.put(place, key, value)) return;
    const { entries, size } = this.#quota;
    throw new WireRefused(
      'memory_full',
      `Storage limit reached: at most ${entries} entries or ${size} characters, including your memory/* entries.`,
    );
  }

  remove(place: RowPlace, keys: readonly string[]): Promise<number> {
    const digests = keys.map((key) => digest(['key', key]));
    return this.#options.store.remove(this.#space(place), place.owner, digests);
  }

  /** Runs the changes of a place one after the other, so that none is based on data that another is about to change. */
  inTurn<Result>(place: RowPlace, change: () => Promise<Result>): Promise<Result> {
    return this.#changes.run(this.#space(place), change);
  }

  #space({ owner, name }: RowPlace): string {
    return digest(['plugin', this.#options.kind, owner, name]);
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

const QUOTA: MemoryQuota = { entries: 1_000, size: 4 * 1024 * 1024, spaces: 16 };
