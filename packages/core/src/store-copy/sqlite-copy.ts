import { renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FileStorage } from '../executions/file-storage.ts';
import { syncFolder } from '../secrets/secret-file.ts';
import { CommitMarker, refuseLoss } from '../store/commit-marker.ts';
import type { StoredRow } from '../store/executions.ts';
import { FolderLock } from '../store/folder-lock.ts';
import { migrate } from '../store/migrations.ts';
import { createPrivateFile, createPrivateFolder } from '../store/private-files.ts';
import { countOf } from '../store/sql/commits.ts';
import { storedChecksumOf } from '../store/sql/stored-data.ts';
import { DATABASE, openDatabase } from '../store/sqlite-database.ts';
import { type Database, loadEngine, type Statement } from '../store/sqlite-engine.ts';
import { StoreError } from '../store/store-error.ts';
import {
  COPY_BATCH,
  type CopyColumn,
  type CopyEnd,
  type CopyQuery,
  type CopyRow,
  type CopyTarget,
  copyBytesOf,
  otherCopy,
} from './copy-end.ts';

/** Opens a data folder to copy from. Like a start of the server, this brings its database to the newest version. */
export async function openSqliteSource(folder: string): Promise<CopyEnd> {
  const path = join(folder, DATABASE);
  if (sizeOf(path) === 0) {
    throw new StoreError('store_foreign', `The folder ${folder} has no ${DATABASE}: nothing can be copied from it.`);
  }
  const engine = await loadEngine();
  const lock = new FolderLock({ engine, folder });
  let database: Database | undefined;
  try {
    database = openDatabase(engine, path);
    refuseLoss(database, { folder, marker: new CommitMarker({ folder, elapsed: () => 0 }) });
    return new SqliteEnd({ folder, lock, database });
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}

/** Opens a data folder to copy to. The database has another name until the copy is complete, so no server opens it. */
export async function openSqliteTarget(folder: string): Promise<CopyTarget> {
  const engine = await loadEngine();
  createPrivateFolder(folder, DATABASE);
  if (sizeOf(join(folder, DATABASE)) > 0) throw notEmpty(folder);
  const lock = new FolderLock({ engine, folder });
  let database: Database | undefined;
  try {
    const path = join(folder, COPY);
    createPrivateFile(path);
    database = engine.open(path);
    migrate(database, path);
    return new SqliteTarget({ folder, lock, database });
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}

interface OpenFolder {
  readonly folder: string;
  readonly lock: FolderLock;
  readonly database: Database;
}

type StoredFileRow = StoredRow & { readonly checksum: number };

class SqliteEnd implements CopyEnd {
  readonly kind = 'sqlite';
  readonly identity: string;
  protected readonly database: Database;
  protected readonly folder: string;
  readonly #lock: FolderLock;
  readonly #files: FileStorage;
  /** The driver of Node 20 frees a statement that only its iterator refers to. */
  readonly #statements: Statement[] = [];

  constructor({ folder, lock, database }: OpenFolder) {
    this.folder = folder;
    this.database = database;
    this.#lock = lock;
    this.#files = new FileStorage({ root: join(folder, 'stored') });
    this.identity = `sqlite:${resolve(folder)} after ${countOf(database)} commits`;
  }

  async tables(): Promise<string[]> {
    return this.#texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name");
  }

  async columns(table: string): Promise<CopyColumn[]> {
    const rows = this.database
      .prepare(`SELECT name, type, "notnull", dflt_value FROM pragma_table_info('${table}')`)
      .all();
    return (rows as { name: string; type: string; notnull: number; dflt_value: string | null }[]).map(
      ({ name, type, notnull, dflt_value }) => ({
        name,
        type: type === 'TEXT' ? 'text' : type === 'BLOB' ? 'bytea' : 'bigint',
        isOptional: notnull === 0 || dflt_value !== null,
      }),
    );
  }

  async *rows(query: CopyQuery, after?: CopyRow): AsyncGenerator<CopyRow[]> {
    const { key, columns, rows } = query;
    const fields = columns.map(({ expression, name }) => `${expression} AS "${name}"`).join(', ');
    const from = after === undefined ? '' : ` WHERE (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
    const select = this.database.prepare(`SELECT ${fields} FROM ${rows}${from} ORDER BY ${key.join(', ')}`);
    this.#statements.push(select);
    let batch: CopyRow[] = [];
    let bytes = 0;
    for (const found of select.iterate(...(after ?? []))) {
      const row = query.hasFiles === true ? await this.#withValue(found as StoredFileRow) : found;
      const values = columns.map(({ name }) => (row as Record<string, CopyRow[number]>)[name] ?? null);
      batch.push(values);
      bytes += copyBytesOf(values);
      if (batch.length < COPY_BATCH.rows && bytes < COPY_BATCH.bytes) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) yield batch;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.database.close();
    } finally {
      this.releaseLock();
    }
  }

  protected releaseLock(): void {
    this.#lock.release();
  }

  /** A row whose file is damaged or missing is copied unchanged; reading it later reports the damage. */
  async #withValue(row: StoredFileRow): Promise<StoredFileRow> {
    if (row.file === null) return row;
    try {
      const value = new TextDecoder().decode(await this.#files.read(row.file));
      const kept = { ...row, value, file: null };
      return { ...kept, checksum: storedChecksumOf(kept) };
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'ENOENT' || code === 'store_damaged') return row;
      throw error;
    }
  }

  #texts(sql: string): string[] {
    return (this.database.prepare(sql).all() as { name: string }[]).map(({ name }) => name);
  }
}

class SqliteTarget extends SqliteEnd implements CopyTarget {
  #isClosed = false;

  async begin(source: string): Promise<void> {
    const { database } = this;
    database.exec('CREATE TABLE IF NOT EXISTS unfinished_copy (source TEXT NOT NULL)');
    const found = database.prepare('SELECT source FROM unfinished_copy').get() as { source: string } | undefined;
    if (found === undefined) database.prepare('INSERT INTO unfinished_copy (source) VALUES (?)').run(source);
    else if (found.source !== source) throw otherCopy(join(this.folder, COPY), found.source, source);
  }

  async last({ table, key }: CopyQuery): Promise<CopyRow | undefined> {
    const order = key.map((column) => `${column} DESC`).join(', ');
    const row = this.database.prepare(`SELECT ${key.join(', ')} FROM ${table} ORDER BY ${order} LIMIT 1`).get();
    return row === undefined
      ? undefined
      : key.map((column) => (row as Record<string, CopyRow[number]>)[column] ?? null);
  }

  async insert(table: string, columns: readonly CopyColumn[], rows: readonly CopyRow[]): Promise<void> {
    const { database } = this;
    const names = columns.map(({ name }) => name);
    const insert = database.prepare(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const row of rows) insert.run(...row);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  async finish(): Promise<void> {
    // The copied open rows have the epoch 0, and the first opening of the store needs a higher one to claim them.
    this.database.exec('BEGIN IMMEDIATE; DROP TABLE unfinished_copy; UPDATE commits SET count = 1; COMMIT');
    this.#isClosed = true;
    this.database.close();
    renameSync(join(this.folder, COPY), join(this.folder, DATABASE));
    syncFolder(this.folder);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) this.releaseLock();
    else await super[Symbol.asyncDispose]();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function notEmpty(folder: string): StoreError {
  return new StoreError(
    'store_foreign',
    `The folder ${folder} already has a store. Copy into a new folder, or remove ${DATABASE} first.`,
  );
}

const COPY = `${DATABASE}.copy`;
