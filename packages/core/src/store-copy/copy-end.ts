import { StoreError } from '../store/store-error.ts';

/** A value of a row, the same on every store. */
export type CopyValue = string | number | null | Uint8Array;
export type CopyRow = readonly CopyValue[];

export interface CopyColumn {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'integer' | 'double precision' | 'bytea';
  /** The database fills it in when it is left out. */
  readonly isOptional: boolean;
}

/** The source of a copy: an expression for each column, and the table. */
export interface CopyQuery {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly expression: string }[];
  readonly rows: string;
  /** The columns that order the rows and identify each. */
  readonly key: readonly string[];
  /** Values of `file` are read and returned as `value`. */
  readonly hasFiles?: boolean;
}

/** One end of a copy: a store that no server has open, for as long as this does. */
export interface CopyEnd extends AsyncDisposable {
  readonly kind: 'sqlite' | 'postgres';
  /** Its identity and state, which changes when a server writes to it. */
  readonly identity: string;
  tables(): Promise<readonly string[]>;
  columns(table: string): Promise<readonly CopyColumn[]>;
  /** The rows in the order of their key, a few at a time, from the one behind `after`. */
  rows(query: CopyQuery, after?: CopyRow): AsyncIterable<readonly CopyRow[]>;
}

export interface CopyTarget extends CopyEnd {
  /** Refuses a store that is not empty, unless it is the unfinished copy of the same source. */
  begin(source: string): Promise<void>;
  /** The key of the last row there is. */
  last(query: CopyQuery): Promise<CopyRow | undefined>;
  /** All of them or none. */
  insert(table: string, columns: readonly CopyColumn[], rows: readonly CopyRow[]): Promise<void>;
  /** From here on a server may open it. */
  finish(): Promise<void>;
}

/** Rows of at most so many bytes, or one row. */
export const COPY_BATCH = { rows: 500, bytes: 4_194_304 };

export function copyBytesOf(row: CopyRow): number {
  return row.reduce<number>(
    (sum, value) => sum + (typeof value === 'object' ? (value?.length ?? 0) : String(value).length),
    0,
  );
}

/** Two sources would be mixed. */
export function otherCopy(place: string, found: string, source: string): StoreError {
  return new StoreError(
    'store_foreign',
    `${place} is the unfinished copy of ${found}, and this is ${source}. Remove it, or copy to another place.`,
  );
}
