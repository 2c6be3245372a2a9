/**
 * Why the store did not do what it was asked. Matched by `code`, never by class. What a caller is told of it, `failureOf`
 * knows: here the wording of failures would bring every protocol into the store's thread.
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
  /** Nothing was recorded: the disk is full, somebody else holds the database, or the store is broken or closed. */
  | 'store_unavailable'
  /** What was read is not what was written. */
  | 'store_damaged'
  /** The database has lost recorded history, or is gone while what belongs to it is still there. */
  | 'store_lost'
  /** The right to write to this run is another process's by now, or the run has ended. */
  | 'not_held'
  /** The address of the database, or the way to sign in to it, is wrong; or it cannot be used as it is set up. */
  | 'store_unreachable'
  /** Another process has this data folder or schema open. */
  | 'store_locked'
  /** The file is a database, but not ours. */
  | 'store_foreign'
  /** The file was written by a newer version than this one. */
  | 'store_newer'
  /** No SQLite driver loads here. */
  | 'driver_missing';
