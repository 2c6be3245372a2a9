/**
 * Reports why an operation of the store failed. Match it by `code`, never by class. `failureOf` translates it for
 * callers; it is not done here, because that would load every protocol into the store's thread.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type StoreErrorCode =
  /** Nothing was recorded: the disk is full, another program has locked the database, or the store is broken or closed. */
  | 'store_unavailable'
  /** A row or page is damaged. */
  | 'store_damaged'
  /** The database has lost recorded history, or is missing while files that belong to it exist. */
  | 'store_lost'
  /** Another process has claimed this run, or the run has ended. */
  | 'not_held'
  /** The database's address or credentials are wrong, or the database cannot be used as it is set up. */
  | 'store_unreachable'
  /** Another process has this data folder or schema open. */
  | 'store_locked'
  /** The file is a database, but not ours. */
  | 'store_foreign'
  /** A newer version of Dragoman wrote the file. */
  | 'store_newer'
  /** No SQLite driver loads here. */
  | 'driver_missing';

export function isDamaged(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'store_damaged';
}
