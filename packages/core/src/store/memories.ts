/** A memory space of an agent, identified by its owner and its id. */
export interface MemoryRow {
  readonly memoryId: string;
  readonly owner: string;
  readonly namespace: string;
  /** As JSON text. */
  readonly scope: string;
  readonly createdAt: number;
}

/**
 * A memory entry. Its space is a digest of its tier, its namespace, its scope and, unless the tier is shared, its
 * owner.
 */
export interface MemoryEntryRow {
  readonly space: string;
  /** The digest of the key that its owner chose. */
  readonly key: string;
  /** The caller that stored it. In a shared space, only this caller may change it. */
  readonly owner: string;
  /** As JSON text. */
  readonly entry: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null when it never expires. */
  readonly expiresAt: number | null;
}

/** A number of entries and their size. */
export interface MemoryUse {
  readonly entries: number;
  /** In characters. */
  readonly size: number;
}

/** The limit of one space, without expired entries. */
export interface MemoryQuota extends MemoryUse {
  /** An owner may store as much as this many full spaces, spread over any number of spaces. */
  readonly spaces: number;
}

/** The limit of one owner. */
export function wholeOf({ entries, size, spaces }: MemoryQuota): MemoryUse {
  return { entries: entries * spaces, size: size * spaces };
}

export type MemoryPut = 'stored' | 'full' | 'owner_full' | 'foreign';

export interface MemoriesStore {
  /**
   * Creates the space, or leaves an existing one unchanged. Beyond the owner's limit the oldest spaces are deleted, but
   * not their entries: these are found again when the space is opened again.
   */
  open(row: MemoryRow, quota: MemoryQuota): Promise<void>;
  find(owner: string, memoryId: string): Promise<MemoryRow | undefined>;
  /**
   * Adds an entry, or replaces the one with its key, whose `createdAt` it keeps. Nothing is stored on `full` (the space
   * would exceed its quota), `owner_full` (the owner would exceed its limit) and `foreign` (another owner has an entry
   * with this key). Expired entries of the space and of the owner are deleted first.
   */
  put(row: MemoryEntryRow, quota: MemoryQuota): Promise<MemoryPut>;
  /** The entries of a space that have not expired by `now`, newest first. */
  list(space: string, now: number): Promise<MemoryEntryRow[]>;
  /** Deletes the owner's entries with these keys. Returns how many. */
  remove(space: string, owner: string, keys: readonly string[]): Promise<number>;
  /** Deletes expired entries. Returns how many. */
  purge(now: number): Promise<number>;
}
