import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createPrivateFile } from './private-files.ts';
import { DATABASE } from './sqlite-database.ts';
import { faultOf, type SqliteEngine } from './sqlite-engine.ts';
import { StoreError } from './store-error.ts';

/**
 * Makes this process the only one on a data folder. The lock is SQLite's lock on an empty database, which the system
 * releases when the process ends in any way. A file beside it names the holder, for the error message.
 */
export class FolderLock {
  readonly #owner: string;
  readonly #close: () => void;

  constructor({ engine, folder }: { engine: SqliteEngine; folder: string }) {
    const path = join(folder, 'dragoman.lock');
    this.#owner = join(folder, 'dragoman.owner');
    createPrivateFile(path);
    const database = engine.open(path);
    this.#close = () => database.close();
    try {
      database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      refuseOpened(engine, join(folder, DATABASE));
    } catch (error) {
      database.close();
      if (faultOf(error) !== 'busy') throw error;
      throw new StoreError('store_locked', `The data folder ${folder} is in use by ${holder(this.#owner)}. ${WAY_OUT}`);
    }
    this.#sign();
  }

  release(): void {
    rmSync(this.#owner, { force: true });
    this.#close();
  }

  #sign(): void {
    try {
      writeFileSync(this.#owner, JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 });
    } catch {
      // On a full disk the lock still works, but without the name of its holder.
      rmSync(this.#owner, { force: true });
    }
  }
}

/**
 * The lock file can be removed while its owner runs; a second process would then lock a new one. But the owner's
 * connection also locks the database itself, so nobody else can lock that exclusively. The timeout lets a short backup
 * finish.
 */
function refuseOpened(engine: SqliteEngine, path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const database = engine.open(path);
  try {
    database.exec('PRAGMA busy_timeout = 2000; PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_master');
  } catch (error) {
    // Any other error is reported when the database is opened.
    if (faultOf(error) === 'busy') throw error;
  } finally {
    database.close();
  }
}

/** The owner writes the file when it starts, so the file's time is when the owner started. */
function holder(path: string): string {
  try {
    const { pid, host } = JSON.parse(readFileSync(path, 'utf8'));
    return `process ${pid} on ${host} since ${statSync(path).mtime.toISOString()}`;
  } catch {
    return 'another process';
  }
}

const WAY_OUT = 'Stop that process first, or choose another data folder.';
