import { StoreError } from '../store/store-error.ts';

/** A value of a row, the same on every store. */
export type CopyValue = string | number | null | Uint8Array;
export type CopyRow = readonly CopyValue[];

export interface CopyColumn {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'integer' | 'double precision' | 'bytea';
  /** Whether the column may be left out: it may be null or has a default. */
  readonly isOptional: boolean;
}

/** How to read a table. */
export interface CopyQuery {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly expression: string }[];
  /** The table or subquery to read from. */
  readonly rows: string;
  /** The columns that identify a row. Rows are read in their order. */
  readonly key: readonly string[];
  /** Whether to read the file that the column `file` names and return its content as `value`. */
  readonly hasFiles?: boolean;
}

/** One end of a copy: a store that is locked, so that no server can open it. */
export interface CopyEnd extends AsyncDisposable {
  readonly kind: 'sqlite' | 'postgres';
  /** Identifies the store and its state: it changes when a server starts on it or writes to it. */
  readonly identity: string;
  tables(): Promise<readonly string[]>;
  columns(table: string): Promise<readonly CopyColumn[]>;
  /** The rows in the order of their key, in batches, beginning after the key `after`. */
  rows(query: CopyQuery, after?: CopyRow): AsyncIterable<readonly CopyRow[]>;
}

export interface CopyTarget extends CopyEnd {
  /** Refuses a store that is not empty, unless it is the unfinished copy of the same source. */
  begin(source: string): Promise<void>;
  /** The key of the last row; `undefined` when the table is empty. */
  last(query: CopyQuery): Promise<CopyRow | undefined>;
  /** Inserts all rows in one transaction. */
  insert(table: string, columns: readonly CopyColumn[], rows: readonly CopyRow[]): Promise<void>;
  /** Marks the copy as complete, so that a server may open it. */
  finish(): Promise<void>;
}

/** The limits of one batch, which has at least one row. */
export const COPY_BATCH = { rows: 500, bytes: 4_194_304 };

export function copyBytesOf(row: CopyRow): number {
  return row.reduce<number>(
    (sum, value) => sum + (typeof value === 'object' ? (value?.length ?? 0) : String(value).length),
    0,
  );
}

/** The error when the target has an unfinished copy of another source, or of another state of the same one. */
export function otherCopy(place: string, found: string, source: string): StoreError {
  return new StoreError(
    'store_foreign',
    `${place} is the unfinished copy of ${found}, and this is ${source}. Remove it, or copy to another place.`,
  );
}
