import { statSync } from 'node:fs';
import type { Ballast } from './ballast.ts';
import { countOf, epochOf } from './sql/commits.ts';
import { type Operations, prepareOperations } from './sql/operations.ts';
import { LOG_BYTES } from './sqlite-database.ts';
import { type Database, faultOf, type SqliteFault } from './sqlite-engine.ts';
import type { ErrorData, StoreAnswer, StoreCall } from './sqlite-messages.ts';
import type { StoreStats } from './store.ts';
import { StoreError } from './store-error.ts';

/**
 * Runs calls on the database. The writes of a batch share one transaction and its fsync. An error in one call is the
 * answer to that call; the methods throw only when the store is broken.
 */
export class Committer {
  // Stays referenced, because prepared statements dangle when their database is garbage-collected.
  readonly #database: Database;
  readonly #operations: Operations;
  readonly #statements: ReturnType<typeof prepareTransaction>;
  readonly #ballast: Ballast;
  readonly #logPath: string;
  readonly #onRoom: (room: boolean) => void;
  readonly #elapsed: () => number;
  /** The commits of the database since it was created. */
  #count: number;
  /** The number of this opening: higher than that of any earlier one that wrote something. */
  readonly epoch: number;
  #room = true;
  #writes = 0;
  #commits = 0;
  #commitMs = 0;
  #checkpoints = 0;
  #commitsSinceCheckpoint = 0;
  #commitsPerCheckpoint = 256;

  constructor({ database, ballast, logPath, onRoom, elapsed }: CommitterOptions) {
    this.#database = database;
    this.epoch = epochOf(database);
    this.#operations = prepareOperations(database);
    this.#statements = prepareTransaction(database);
    this.#ballast = ballast;
    this.#logPath = logPath;
    this.#onRoom = onRoom;
    this.#elapsed = elapsed;
    this.#count = countOf(database);
  }

  get count(): number {
    return this.#count;
  }

  get counts(): Omit<StoreStats, 'driver'> {
    return {
      writes: this.#writes,
      commits: this.#commits,
      commitMs: this.#commitMs,
      checkpoints: this.#checkpoints,
    };
  }

  isRead({ name }: StoreCall): boolean {
    return Object.hasOwn(this.#operations.reads, name);
  }

  read(call: StoreCall): StoreAnswer {
    try {
      return { id: call.id, value: perform(this.#operations.reads, call) };
    } catch (error) {
      if (faultOf(error) === 'broken') throw error;
      return { id: call.id, error: errorData(error) };
    }
  }

  /**
   * Commits the calls together. A full disk refuses all but removals; a database that another program has locked
   * refuses all.
   */
  commit(calls: readonly StoreCall[]): StoreAnswer[] {
    try {
      if (!this.#hasRoom()) return this.#commitRemovals(calls);
      const answers = this.#transaction(calls);
      this.#noteRoom(true);
      return answers;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === 'full') return this.#commitRemovals(calls);
      if (isPassing(fault)) return refuse(calls, errorData(error));
      throw error;
    }
  }

  /** Call it after the answers are sent, so that only the next batch waits for it. */
  checkpointWhenDue(): void {
    if (this.#commitsSinceCheckpoint < this.#commitsPerCheckpoint && this.#logBytes() <= LOG_BYTES) return;
    this.#checkpoint();
  }

  /** Moves all of the log into the database and truncates it, so that overwritten data is in no file any more. */
  scrub(): void {
    try {
      this.#statements.truncatingCheckpoint.get();
    } catch (error) {
      // Nothing is lost: a later checkpoint moves the log.
      if (!isPassing(faultOf(error))) throw error;
    }
  }

  close(): void {
    this.scrub();
    this.#database.close();
  }

  /** Closes the database after the disk has failed. Further errors are ignored. */
  abandon(): void {
    try {
      this.#database.close();
    } catch {}
  }

  /**
   * Runs the calls without savepoints first, because a savepoint is as slow as a small write. If a call throws, it may
   * have written before, so everything is undone and repeated with a savepoint for each call.
   */
  #transaction(calls: readonly StoreCall[]): StoreAnswer[] {
    try {
      return this.#run(calls, (call) => ({ id: call.id, value: this.#perform(call) }));
    } catch (error) {
      if (faultOf(error) !== 'operation') throw error;
      return this.#run(calls, (call) => this.#performApart(call));
    }
  }

  #run(calls: readonly StoreCall[], performOne: (call: StoreCall) => StoreAnswer): StoreAnswer[] {
    const { begin, countOne, commit, rollback } = this.#statements;
    const startedAt = this.#elapsed();
    begin.run();
    try {
      const answers = calls.map(performOne);
      countOne.run();
      commit.run();
      this.#count += 1;
      this.#writes += calls.length;
      this.#commits += 1;
      this.#commitMs += this.#elapsed() - startedAt;
      this.#commitsSinceCheckpoint += 1;
      return answers;
    } catch (error) {
      // After some errors SQLite has already rolled back.
      if (this.#database.isTransaction) rollback.run();
      throw error;
    }
  }

  #perform(call: StoreCall): unknown {
    const { writes, removals } = this.#operations;
    return perform(Object.hasOwn(writes, call.name) ? writes : removals, call);
  }

  #performApart(call: StoreCall): StoreAnswer {
    const { savepoint, release, rollbackTo } = this.#statements;
    savepoint.run();
    try {
      const value = this.#perform(call);
      release.run();
      return { id: call.id, value };
    } catch (error) {
      if (faultOf(error) !== 'operation') throw error;
      rollbackTo.run();
      release.run();
      return { id: call.id, error: errorData(error) };
    }
  }

  /** Whether ordinary writes may run: the ballast is in place, or as much space is free inside the database file. */
  #hasRoom(): boolean {
    if (this.#ballast.held || this.#ballast.restore()) return true;
    const { free } = this.#statements.freeBytes.get() as { free: number };
    return free >= this.#ballast.bytes;
  }

  #commitRemovals(calls: readonly StoreCall[]): StoreAnswer[] {
    this.#noteRoom(false);
    // The log itself may be what fills the disk.
    this.#checkpoint();
    const isRemoval = ({ name }: StoreCall) => Object.hasOwn(this.#operations.removals, name);
    const removals = calls.filter(isRemoval);
    if (removals.length === 0) return refuse(calls, DISK_FULL);
    this.#ballast.release();
    try {
      const answers = this.#transaction(removals);
      this.#checkpoint();
      return [
        ...answers,
        ...refuse(
          calls.filter((call) => !isRemoval(call)),
          DISK_FULL,
        ),
      ];
    } catch (error) {
      if (isPassing(faultOf(error))) return refuse(calls, errorData(error));
      throw error;
    }
  }

  #noteRoom(room: boolean): void {
    if (room !== this.#room) this.#onRoom(room);
    this.#room = room;
  }

  /**
   * Moves the write-ahead log into the database, so that the log stays short. SQLite could do so itself, but would not
   * report a failed fsync. The result shows how many pages the commits have added, which sets the interval to the next
   * checkpoint.
   */
  #checkpoint(): void {
    try {
      const { log } = this.#statements.checkpoint.get() as { log: number };
      const interval = Math.round((this.#commitsSinceCheckpoint * LOG_BYTES) / (Math.max(log, 1) * PAGE_BYTES));
      this.#commitsPerCheckpoint = Math.min(Math.max(interval, 8), 8192);
      this.#commitsSinceCheckpoint = 0;
      this.#checkpoints += 1;
    } catch (error) {
      if (!isPassing(faultOf(error))) throw error;
    }
  }

  #logBytes(): number {
    return statSync(this.#logPath, { throwIfNoEntry: false })?.size ?? 0;
  }
}

export interface CommitterOptions {
  readonly database: Database;
  readonly ballast: Ballast;
  /** The path of the write-ahead log. */
  readonly logPath: string;
  /** Called when the disk became full, and when there is room again. */
  readonly onRoom: (room: boolean) => void;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

export function errorData(error: unknown): ErrorData {
  if (error instanceof StoreError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return {
    full: DISK_FULL,
    busy: HELD,
    unopened: unopened(message),
    damaged: damaged(message),
    broken: broken(message),
    operation: { code: undefined, message },
  }[faultOf(error)];
}

/** Whether nothing was recorded and the same call may succeed later. */
function isPassing(fault: SqliteFault): boolean {
  return fault === 'full' || fault === 'busy' || fault === 'unopened';
}

function refuse(calls: readonly StoreCall[], error: ErrorData): StoreAnswer[] {
  return calls.map(({ id }) => ({ id, error }));
}

function perform(table: object, { name, values }: StoreCall): unknown {
  const operation: unknown = Reflect.get(table, name);
  if (typeof operation !== 'function') throw new Error(`the store has no operation ${name}`);
  return operation(...values);
}

function prepareTransaction(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    countOne: database.prepare('UPDATE commits SET count = count + 1'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    savepoint: database.prepare('SAVEPOINT one'),
    release: database.prepare('RELEASE one'),
    rollbackTo: database.prepare('ROLLBACK TO one'),
    checkpoint: database.prepare('PRAGMA wal_checkpoint(PASSIVE)'),
    truncatingCheckpoint: database.prepare('PRAGMA wal_checkpoint(TRUNCATE)'),
    freeBytes: database.prepare(
      'SELECT freelist_count * page_size AS free FROM pragma_freelist_count, pragma_page_size',
    ),
  };
}

const DISK_FULL: ErrorData = {
  code: 'store_unavailable',
  message: 'The disk is full; nothing was recorded. Writing resumes when there is space.',
};

const HELD: ErrorData = {
  code: 'store_unavailable',
  message: 'Another program has locked the database; nothing was recorded. Writing resumes when the lock is released.',
};

function unopened(reason: string): ErrorData {
  return {
    code: 'store_unavailable',
    message: `The store could not open a file (${reason}): nothing was recorded. It continues when files can be opened.`,
  };
}

function damaged(reason: string): ErrorData {
  return { code: 'store_damaged', message: `The database is damaged: ${reason}.` };
}

function broken(reason: string): ErrorData {
  return {
    code: 'store_unavailable',
    message: `The disk failed (${reason}). Nothing is recorded until the next start.`,
  };
}

/** SQLite's default. */
const PAGE_BYTES = 4096;
