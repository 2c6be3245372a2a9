import { statSync } from 'node:fs';
import { CHECKED_BYTES } from './integrity.ts';
import { migrate } from './migrations.ts';
import { createPrivateFile } from './private-files.ts';
import { type Database, faultOf, type SqliteEngine } from './sqlite-engine.ts';
import { StoreError } from './store-error.ts';

/** Opens the database, creates it if it does not exist, and refuses one that is damaged, foreign or newer. */
export function openDatabase(engine: SqliteEngine, path: string): Database {
  createPrivateFile(path);
  const database = engine.open(path);
  try {
    database.exec('PRAGMA busy_timeout = 2000');
    migrate(database, path);
    database.exec(PRAGMAS);
    if (statSync(path).size <= CHECKED_BYTES) refuseDamaged(database);
    return database;
  } catch (error) {
    database.close();
    if (faultOf(error) !== 'damaged') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError('store_damaged', `${path} is damaged (${reason}). ${WAY_OUT}`);
  }
}

export function openInMemory(engine: SqliteEngine): Database {
  const database = engine.open(':memory:');
  migrate(database, 'the database in memory');
  database.exec('PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF');
  return database;
}

function refuseDamaged(database: Database): void {
  const [verdict] = Object.values(Object(database.prepare('PRAGMA quick_check(1)').get()));
  if (verdict !== 'ok') throw Object.assign(new Error(String(verdict)), { errcode: SQLITE_CORRUPT });
}

/** The name of the database file in the data folder. */
export const DATABASE = 'dragoman.db';

/** The size at which the write-ahead log is moved into the database. */
export const LOG_BYTES = 16_777_216;

const SQLITE_CORRUPT = 11;

const WAY_OUT = 'Put a backup in its place, or move it away and start with --accept-loss to begin with an empty store.';

// Temporary tables stay in memory, because a file would need a free descriptor in the middle of a write.
const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = ${LOG_BYTES};
  PRAGMA cache_size = -32768;
  PRAGMA secure_delete = FAST;
  PRAGMA temp_store = MEMORY;
  PRAGMA trusted_schema = OFF`;
