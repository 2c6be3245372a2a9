/** A memory space of an agent, identified by its owner and its id. */
export interface MemoryRow {
  readonly memoryId: string;
  readonly owner: string;
  readonly namespace: string;
  /** As JSON text. */
  readonly scope: string;
  readonly createdAt: number;
}

/** A memory entry. Its space says whose it is, with namespace and tier. */
export interface MemoryEntryRow {
  readonly space: string;
  /** The digest of its key. */
  readonly key: string;
  /** Who stored it: in a shared space, only that owner may change it. */
  readonly owner: string;
  /** As JSON text. */
  readonly entry: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** `null`: never. */
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
  /** The limit of one owner: as much as this many full spaces hold, in any number of spaces. */
  readonly spaces: number;
}

/** The limit of one owner. */
export function wholeOf({ entries, size, spaces }: MemoryQuota): MemoryUse {
  return { entries: entries * spaces, size: size * spaces };
}

export type MemoryPut = 'stored' | 'full' | 'owner_full' | 'foreign';

export interface MemoriesStore {
  /**
   * Creates the space, or keeps it as it is. Beyond the owner's limit the oldest spaces are forgotten. Entries are stored
   * apart from their space, so they are found when it is opened again.
   */
  open(row: MemoryRow, quota: MemoryQuota): Promise<void>;
  find(owner: string, memoryId: string): Promise<MemoryRow | undefined>;
  /**
   * Adds an entry or puts it in place of the one with its key, whose `createdAt` it keeps. `full`: the space would hold more
   * than its quota, `owner_full`: its owner would; `foreign`: the key is another's. None changes anything. Expired entries of
   * the space and of the owner are deleted first.
   */
  put(row: MemoryEntryRow, quota: MemoryQuota): Promise<MemoryPut>;
  /** The entries of a space that have not expired by `now`, newest first. */
  list(space: string, now: number): Promise<MemoryEntryRow[]>;
  /** Deletes the entries with these keys that are the owner's. Returns how many. */
  remove(space: string, owner: string, keys: readonly string[]): Promise<number>;
  /** Deletes expired entries. Returns how many. */
  purge(now: number): Promise<number>;
}
