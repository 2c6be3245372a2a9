import type { EngineModule } from './sqlite-messages.ts';
import { StoreError } from './store-error.ts';

/** The part of SQLite that the store uses, the same in both drivers. Tests pass one that fails on demand. */
export interface SqliteEngine {
  readonly name: string;
  open(path: string): Database;
}

export interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): unknown[];
  iterate(...values: readonly Value[]): IterableIterator<unknown>;
}

export type Value = string | number | null | Uint8Array;

/** Loads `node:sqlite` where it is built in and stable, else a package with the same API that contains its binary. */
export async function loadEngine(version: string = process.versions.node): Promise<SqliteEngine> {
  const name = Number.parseInt(version, 10) >= FIRST_WITH_SQLITE ? 'node:sqlite' : '@photostructure/sqlite';
  try {
    const { DatabaseSync }: Driver = await import(name);
    return { name, open: (path) => new DatabaseSync(path, { enableForeignKeyConstraints: true }) };
  } catch (cause) {
    throw new StoreError('driver_missing', `The SQLite driver ${name} does not load on Node ${version}. ${WAY_OUT}`, {
      cause,
    });
  }
}

/** The engine that a module exports; without a module, the SQLite driver. */
export async function engineOf(module: EngineModule | undefined): Promise<SqliteEngine> {
  return module === undefined ? loadEngine() : (await import(module.url)).engine(module.data);
}

/** What an error of the driver means for the store. */
export type SqliteFault =
  /** Caused by the operation itself: others in the batch are not affected. */
  | 'operation'
  /** No space left. Nothing was recorded; it may work again later. */
  | 'full'
  /** Another process holds the database. It may work again later. */
  | 'busy'
  /** A file could not be opened, as when the process has no descriptor left. It may work again later. */
  | 'unopened'
  /** The file is damaged. */
  | 'damaged'
  /** The disk failed. After a failed fsync the state of the file is unknown: no write may be acknowledged any more. */
  | 'broken';

export function faultOf(error: unknown): SqliteFault {
  if (!(error instanceof Error)) return 'operation';
  if ('errcode' in error && typeof error.errcode === 'number') {
    if (error.errcode === SQLITE_IOERR_SHMSIZE) return 'full';
    return FAULTS.find(({ code }) => code === (Number(error.errcode) & 0xff))?.fault ?? 'operation';
  }
  if ('code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')) return 'unopened';
  // The package's `all` and `iterate` omit the number, so SQLite's message is matched.
  if (!('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return 'operation';
  return FAULTS.find(({ words }) => error.message.includes(words))?.fault ?? 'operation';
}

interface Driver {
  readonly DatabaseSync: new (path: string, options: { readonly enableForeignKeyConstraints: boolean }) => Database;
}

const FIRST_WITH_SQLITE = 24;

const WAY_OUT =
  'Node 24 and later have one built in; on Node 20 and 22 install the optional dependencies (`npm install --include=optional`).';

/** The shared memory beside the write-ahead log could not grow: SQLite's other sign of a full disk. */
const SQLITE_IOERR_SHMSIZE = 4874;

/** SQLite's primary result codes with their messages. All other errors are caused by the operation. */
const FAULTS: readonly { readonly code: number; readonly words: string; readonly fault: SqliteFault }[] = [
  { code: 5, words: 'database is locked', fault: 'busy' },
  { code: 6, words: 'database table is locked', fault: 'busy' },
  { code: 7, words: 'out of memory', fault: 'broken' },
  { code: 8, words: 'attempt to write a readonly database', fault: 'broken' },
  { code: 10, words: 'disk I/O error', fault: 'broken' },
  { code: 11, words: 'database disk image is malformed', fault: 'damaged' },
  { code: 13, words: 'database or disk is full', fault: 'full' },
  { code: 14, words: 'unable to open database file', fault: 'unopened' },
  { code: 26, words: 'file is not a database', fault: 'damaged' },
];
