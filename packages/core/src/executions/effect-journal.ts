import type { EffectKind, EffectRow, ExecutionKey, ExecutionStore } from '../store/executions.ts';
import type { Held } from '../store/held.ts';

/**
 * The effects of one execution: those that an earlier process recorded, and those of this process. A new effect is
 * written at the next `flush`, together with all others that wait.
 */
export class EffectJournal {
  readonly key: ExecutionKey;
  readonly #store: ExecutionStore;
  readonly #hold: () => Promise<Held>;
  readonly #recorded = new Map<string, EffectRow>();
  #pending: PendingEffect[] = [];
  #pendingBytes = 0;
  #next: number;
  #writing: Promise<void> | undefined;
  #broken: unknown;

  constructor({ key, store, recorded = [], hold }: EffectJournalOptions) {
    this.key = key;
    this.#store = store;
    this.#hold = hold;
    for (const effect of recorded) this.#recorded.set(nameOf(effect.kind, effect.key), effect);
    this.#next = (recorded.at(-1)?.position ?? -1) + 1;
  }

  find(kind: EffectKind, key: string): EffectRow | undefined {
    return this.#recorded.get(nameOf(kind, key));
  }

  /** The right to write to the execution. */
  hold(): Promise<Held> {
    return this.#hold();
  }

  /** Gives an effect its place in the journal, for callers that record it themselves. */
  place(effect: NewEffect): EffectRow {
    return rowOf({ effect, position: this.#next++ });
  }

  /** Notes an effect. It is on the disk after the next `flush`. */
  add(effect: NewEffect): void {
    this.#pending.push({ effect, position: this.#next++ });
    this.#pendingBytes += effect.bytes?.length ?? 0;
    if (this.#pendingBytes > MOST_PENDING) this.flushSoon();
  }

  /** Resolves when everything noted so far is on the disk. */
  async flush(): Promise<void> {
    while (this.#broken === undefined) {
      if (this.#writing === undefined) {
        if (this.#pending.length === 0) return;
        this.#writing = this.#write();
      }
      await this.#writing;
    }
    throw this.#broken;
  }

  /** Starts to write the noted effects without waiting. The next `flush` reports errors. */
  flushSoon(): void {
    this.flush().catch(() => {});
  }

  /** Waits for the current write without starting another. Throws if a write failed. */
  async settle(): Promise<void> {
    if (this.#writing !== undefined) await this.#writing;
    if (this.#broken !== undefined) throw this.#broken;
  }

  async #write(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    try {
      await this.#store.append(await this.#hold(), batch.map(rowOf));
    } catch (error) {
      this.#broken = error;
    } finally {
      this.#writing = undefined;
    }
  }
}

/** An effect that has no place in the journal yet. Its note becomes text only when it is written. */
export type NewEffect = Pick<EffectRow, 'kind' | 'key'> & { readonly note: object; readonly bytes?: Uint8Array };

interface PendingEffect {
  readonly effect: NewEffect;
  readonly position: number;
}

interface EffectJournalOptions {
  readonly key: ExecutionKey;
  readonly store: ExecutionStore;
  /** The effects that an earlier process recorded. */
  readonly recorded?: readonly EffectRow[];
  /** Returns the right to write to the execution. Records the execution first if that has not happened yet. */
  readonly hold: () => Promise<Held>;
}

function rowOf({ effect: { kind, key, note, bytes }, position }: PendingEffect): EffectRow {
  return { position, kind, key, note: JSON.stringify(note), bytes: bytes ?? null };
}

function nameOf(kind: EffectKind, key: string): string {
  return `${kind} ${key}`;
}

/** Bytes of answers that may wait in memory before a write starts. */
const MOST_PENDING = 1_048_576;
