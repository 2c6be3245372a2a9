import { type Failure, failure } from '@dragoman/protocols';

/** Why the store did not do what it was asked. Matched by `code`, never by class. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** What a caller is told, where it is one's business. */
  readonly failure: Failure | undefined;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.failure = code === 'store_unavailable' ? failure(code, { retry_after: 5 }) : undefined;
  }
}

export type StoreErrorCode =
  /** Nothing was recorded: the disk is full, somebody else holds the database, or the store is broken or closed. */
  | 'store_unavailable'
  /** What was read is not what was written. */
  | 'store_damaged'
  /** Another process has this data folder open. */
  | 'store_locked'
  /** The file is a database, but not ours. */
  | 'store_foreign'
  /** The file was written by a newer version than this one. */
  | 'store_newer'
  /** No SQLite driver loads here. */
  | 'driver_missing';
