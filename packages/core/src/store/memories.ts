/** A place an agent remembers things in: known by who opened it and the id it was given. */
export interface MemoryRow {
  readonly memoryId: string;
  readonly owner: string;
  readonly namespace: string;
  /** As JSON text. */
  readonly scope: string;
  readonly createdAt: number;
}

/** Something remembered. Where it belongs (whose, which namespace, which tier) is its space. */
export interface MemoryEntryRow {
  readonly space: string;
  /** The digest of its key. */
  readonly key: string;
  /** Who stored it: in a space that several share, nobody else changes it. */
  readonly owner: string;
  /** As JSON text. */
  readonly entry: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** `null`: never. */
  readonly expiresAt: number | null;
}

/** How much one space may hold of what has not expired. */
export interface MemoryQuota {
  readonly entries: number;
  /** Characters of `entry`. */
  readonly size: number;
}

export interface MemoriesStore {
  /** Makes it, or leaves it as it is. */
  open(row: MemoryRow): Promise<void>;
  find(owner: string, memoryId: string): Promise<MemoryRow | undefined>;
  /**
   * Adds an entry or puts it in place of the one with its key, whose `createdAt` it keeps. `full`: the quota would be passed;
   * `foreign`: the key is another's. Neither changes anything. What has expired in the space is forgotten first.
   */
  put(row: MemoryEntryRow, quota: MemoryQuota): Promise<'stored' | 'full' | 'foreign'>;
  /** What is in a space and has not expired by `now`, the latest first. */
  list(space: string, now: number): Promise<MemoryEntryRow[]>;
  /** Forgets those of these keys that are the owner's. Returns how many. */
  remove(space: string, owner: string, keys: readonly string[]): Promise<number>;
  /** Forgets what has expired. Returns how many. */
  purge(now: number): Promise<number>;
}
