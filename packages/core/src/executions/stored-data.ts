import { failure } from '@dragoman/protocols';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf, Refused } from '../refusals/refused.ts';
import type { EffectRow, StoredDataStore, StoredInfo, StoredQuota } from '../store/executions.ts';
import type { Held } from '../store/held.ts';
import { StoreError } from '../store/store-error.ts';
import type { StoredValue, StoreWrite } from '../workflow/effects.ts';
import type { FileStorage } from './file-storage.ts';

export interface StoredDataOptions {
  readonly store: StoredDataStore;
  /** Where values with `storage: file` are written. Default: in the store, like all others. */
  readonly files?: FileStorage | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The quota of each agent. */
  readonly quota: StoredQuota;
}

/** The stored data of an agent, readable in its later executions at `/store/<key>`. */
export class StoredData {
  readonly #options: StoredDataOptions;

  constructor(options: StoredDataOptions) {
    this.#options = options;
  }

  /** Stores the value and records the effect, both or neither. Refuses a value that exceeds the agent's quota. */
  async keep(write: StoreWrite, { owner, by }: { owner: string; by: RecordedBy }): Promise<void> {
    const { store, files, clock, ids, quota } = this.#options;
    const { key: name, json, carries } = write;
    if (UNSTORABLE.test(name)) throw new Refused(failure('invalid_message', {}, 'A key must be text without NUL.'));
    // The store checks the quota, too; this only avoids writing a file that exceeds it.
    if (json.length > quota.bytes) throw over({ bytes: json.length, count: 1 }, quota);
    const file =
      write.storage === 'file' && files !== undefined
        ? await files.write(owner, { name, unique: ids.hex(), bytes: json })
        : null;
    const value = file === null ? new TextDecoder().decode(json) : null;
    const labels = carries.length === 0 ? null : JSON.stringify(carries);
    const row = { owner, name, value, file, bytes: json.length, labels, updatedAt: clock.now().getTime() };
    const kept = await store.keep(row, quota, by).catch(async (error: unknown) => {
      // With this code nothing was recorded. After any other error the row may exist, so the file stays; the next start
      // removes it if no row names it.
      if (file !== null && failureOf(error)?.code === 'store_unavailable') await this.erase([file]);
      throw error;
    });
    if (!kept.kept) {
      if (file !== null) await this.erase([file]);
      throw over(kept, quota);
    }
    const old = kept.replaced?.file ?? null;
    if (old !== null) await this.erase([old]);
  }

  /** `undefined` when there is nothing under that name. */
  async read(owner: string, name: string): Promise<StoredValue | undefined> {
    const { store, files } = this.#options;
    for (let tries = 0; ; tries++) {
      const row = await store.find(owner, name);
      if (row === undefined) return undefined;
      const labels = row.labels === null ? [] : (JSON.parse(row.labels) as StoredValue['labels']);
      if (row.file === null) return { bytes: new TextEncoder().encode(row.value ?? 'null'), labels };
      if (files === undefined) throw new StoreError('store_damaged', `${name} is in a file of another server.`);
      try {
        return { bytes: await files.read(row.file), labels };
      } catch (error) {
        // Another execution has just replaced the file.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries > 2) throw error;
      }
    }
  }

  /** Removes files that no row names any more. The next start removes those that a crash leaves. */
  async erase(files: readonly string[]): Promise<void> {
    for (const file of files) await this.#options.files?.remove(file);
  }

  list(owner: string): Promise<StoredInfo[]> {
    return this.#options.store.list(owner);
  }

  /** False when there is nothing under that name. */
  async remove(owner: string, name: string): Promise<boolean> {
    const removed = await this.#options.store.remove(owner, name);
    // If the server crashes here, the next start removes the file.
    if (removed !== null && removed.file !== null) await this.erase([removed.file]);
    return removed !== null;
  }

  names(owner: string): Promise<string[]> {
    return this.#options.store.names(owner);
  }

  /** Removes files that no row names, which a crash can leave. Call it before anything runs. */
  async sweep(): Promise<void> {
    const { store, files } = this.#options;
    await files?.sweep(new Set(await store.files()));
  }
}

interface RecordedBy {
  readonly held: Held;
  readonly effects: readonly EffectRow[];
}

function over(wanted: StoredQuota, quota: StoredQuota): Refused {
  const details = {
    quota: quota.bytes,
    quota_keys: quota.count,
    suggestions: ['store less, or reuse a key to replace its value'],
  };
  const message =
    wanted.count > quota.count
      ? `An agent may store ${quota.count} keys; this would be number ${wanted.count}.`
      : `An agent may store ${quota.bytes} bytes; this would make it ${wanted.bytes}.`;
  return new Refused({ ...failure('too_large', details, message), retryable: false });
}

/** Databases change or refuse these characters, so two keys could become one. */
const UNSTORABLE = /\0|\p{Surrogate}/u;
