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

/** What there is of something. */
export interface MemoryUse {
  readonly entries: number;
  /** In characters. */
  readonly size: number;
}

/** How much one space may hold of what has not expired. */
export interface MemoryQuota extends MemoryUse {
  /** One owner holds as much as this many that are full, in however many it is. */
  readonly spaces: number;
}

/** How much one owner may hold. */
export function wholeOf({ entries, size, spaces }: MemoryQuota): MemoryUse {
  return { entries: entries * spaces, size: size * spaces };
}

export type MemoryPut = 'stored' | 'full' | 'owner_full' | 'foreign';

export interface MemoriesStore {
  /**
   * Makes it, or leaves it as it is. Of more than its owner may hold the first that were made are known no more: nothing is in
   * them by themselves, and whoever opens one again finds what is there.
   */
  open(row: MemoryRow, quota: MemoryQuota): Promise<void>;
  find(owner: string, memoryId: string): Promise<MemoryRow | undefined>;
  /**
   * Adds an entry or puts it in place of the one with its key, whose `createdAt` it keeps. `full`: the space would hold more
   * than its quota, `owner_full`: its owner would; `foreign`: the key is another's. None changes anything. What has expired in
   * the space, or is the owner's, is forgotten first.
   */
  put(row: MemoryEntryRow, quota: MemoryQuota): Promise<MemoryPut>;
  /** What is in a space and has not expired by `now`, the latest first. */
  list(space: string, now: number): Promise<MemoryEntryRow[]>;
  /** Forgets those of these keys that are the owner's. Returns how many. */
  remove(space: string, owner: string, keys: readonly string[]): Promise<number>;
  /** Forgets what has expired. Returns how many. */
  purge(now: number): Promise<number>;
}
