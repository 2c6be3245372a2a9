import type { Log } from '../../ports/ports.ts';
import { StoreError } from '../store-error.ts';
import { dial, type PostgresConnection } from './connection.ts';
import { isConflict, isPassing, isSqlError } from './errors.ts';
import type { PostgresAddress } from './postgres-url.ts';

/** Statements in one transaction, or each in its own. */
export interface Queries {
  all<Row>(text: string, ...values: unknown[]): Promise<Row[]>;
  get<Row>(text: string, ...values: unknown[]): Promise<Row | undefined>;
  /** How many rows it wrote. */
  run(text: string, ...values: unknown[]): Promise<number>;
}

/** Takes statements that `setStatement` made; their values begin at `$3`. Returns what the statement reports. */
export interface SetWriter {
  writeSet(text: string, ...values: unknown[]): Promise<(number | null)[]>;
}

export interface Transaction extends Queries, SetWriter {}

/**
 * A statement over a set of rows, with everything that is known of it afterwards in the row of its connection. Its rows come from `unnest` and
 * `lane`: without the lane there are none.
 */
export function setStatement(withQueries: string, reported: string): string {
  return `
  WITH lane AS (SELECT id FROM lanes WHERE id = $1 AND NOT is_closed FOR NO KEY UPDATE), ${withQueries}
  UPDATE lanes l SET last = $2, reported = ARRAY(${reported}) FROM lane WHERE l.id = lane.id RETURNING l.reported`;
}

export interface DatabaseOptions {
  readonly address: PostgresAddress;
  readonly log?: Log | undefined;
  /** Default: 8. */
  readonly connections?: number | undefined;
  /** How long an operation waits for the database before it is refused. Default: 30 s. */
  readonly patienceMs?: number | undefined;
}

/**
 * Connections to one database, and the ways to use them.
 *
 *   read       one statement; another connection does it again when one is lost
 *   write      one transaction
 *   writeSet   one statement over a set of rows, which is a transaction: one round trip
 *
 * A connection that is lost while it commits leaves open whether it did. Each transaction therefore writes its number into the row of its
 * connection, the lane, and a set writes what it returns. The lane shows the outcome, and once closed it lets nothing more commit. So
 * `store_unavailable` always means that nothing was recorded.
 */
export class PostgresDatabase implements SetWriter {
  readonly #options: DatabaseOptions;
  readonly patienceMs: number;
  readonly #most: number;
  readonly #lanes = new WeakMap<PostgresConnection, Lane>();
  #idle: PostgresConnection[] = [];
  readonly #inUse = new Set<PostgresConnection>();
  #count = 0;
  #waiting: ((connection: PostgresConnection | undefined) => void)[] = [];
  #isClosed = false;
  #isAway = false;
  /** The number of this node; 0 before it has one. The node holds everything that it opens. */
  node = 0;
  writes = 0;
  commits = 0;
  commitMs = 0;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#most = options.connections ?? 8;
    this.patienceMs = options.patienceMs ?? 30_000;
  }

  /** Statements one by one, each on any connection: for reads. */
  readonly read: Queries = {
    all: async <Row>(text: string, ...values: unknown[]) =>
      this.#patiently(async () => {
        const { rows } = await this.#with((connection) => connection.query(text, values));
        return rows as Row[];
      }),
    get: async <Row>(text: string, ...values: unknown[]) => (await this.read.all<Row>(text, ...values))[0],
    run: () => Promise.reject(new Error('a read does not write')),
  };

  /** A transaction. It may run more than once, until one commits. */
  write<Result>(work: (queries: Transaction) => Promise<Result>): Promise<Result> {
    return this.#patiently(() => this.#with((connection) => this.#transaction(connection, work)));
  }

  writeSet(text: string, ...values: unknown[]): Promise<(number | null)[]> {
    return this.#patiently(() => this.#with((connection) => this.#writeSet(connection, text, values)));
  }

  /** Closes all connections: the network may have dropped them silently. What they were used for is tried again on others. */
  cut(): void {
    for (const connection of this.#idle.splice(0)) {
      this.#count -= 1;
      void connection.close();
    }
    for (const connection of this.#inUse) void connection.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#waiting.splice(0)) waiting(undefined);
    const timer = setTimeout(() => this.cut(), LAST_MS);
    while (this.#count > 0) {
      for (const connection of this.#idle.splice(0)) {
        this.#count -= 1;
        await connection.close();
      }
      if (this.#count > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    clearTimeout(timer);
  }

  async #transaction<Result>(
    connection: PostgresConnection,
    work: (queries: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const startedAt = performance.now();
    const lane = this.#nextOf(connection);
    // They are sent together with the first statement of the work.
    const began = [connection.script('BEGIN'), connection.query(NUMBER, [lane.id, lane.last])];
    for (const one of began) one.catch(() => {});
    const all = async <Row>(text: string, ...values: unknown[]) => (await connection.query(text, values)).rows as Row[];
    let result: Result;
    try {
      result = await work({
        all,
        get: async <Row>(text: string, ...values: unknown[]) => (await all<Row>(text, ...values))[0],
        run: async (text, ...values) => (await connection.query(text, values)).rowCount ?? 0,
        writeSet: async (text, ...values) => reportedIn(await connection.query(text, [lane.id, lane.last, ...values])),
      });
      const [, numbered] = await Promise.all(began);
      if (numbered?.rowCount === 0) {
        // Its node was forgotten meanwhile. The outcome of a commit could not be known.
        await connection.close();
        throw new StoreError('store_unavailable', 'The row of a connection is gone.');
      }
    } catch (error) {
      if (!connection.isLost) await connection.script('ROLLBACK').catch(() => connection.close());
      throw error;
    }
    try {
      await connection.script('COMMIT');
    } catch (error) {
      // Checked even when PostgreSQL reported an error: one reported during its shutdown does not show the outcome.
      await this.#giveUp(connection);
      if ((await this.#outcomeOf(lane)) === undefined) throw error;
    }
    this.#countCommit(startedAt);
    return result;
  }

  async #writeSet(
    connection: PostgresConnection,
    text: string,
    values: readonly unknown[],
  ): Promise<(number | null)[]> {
    const startedAt = performance.now();
    const lane = this.#nextOf(connection);
    let reported: (number | null)[];
    try {
      reported = reportedIn(await connection.query(text, [lane.id, lane.last, ...values]));
    } catch (error) {
      await this.#giveUp(connection);
      const outcome = await this.#outcomeOf(lane);
      if (outcome === undefined) throw error;
      reported = outcome.reported;
    }
    this.#countCommit(startedAt);
    return reported;
  }

  /** The lane of a connection, with the number of its next transaction. */
  #nextOf(connection: PostgresConnection): Lane {
    const lane = this.#lanes.get(connection);
    if (lane === undefined) throw new Error('a connection has no lane');
    lane.last += 1;
    return lane;
  }

  #countCommit(startedAt: number): void {
    this.writes += 1;
    this.commits += 1;
    this.commitMs += performance.now() - startedAt;
  }

  /**
   * Closes the lane, and returns what its last transaction left in it; `undefined` when that did not commit. Waits for as long as it takes: no
   * caller may get an answer before the outcome is known.
   */
  async #outcomeOf({ id, last, pid, since }: Lane): Promise<Pick<Outcome, 'reported'> | undefined> {
    for (let delay = FIRST_MS; ; delay = Math.min(2 * delay, LONGEST_MS)) {
      if (this.#isClosed) throw new Error('the store was closed before it was known whether a transaction committed');
      let connection: PostgresConnection | undefined;
      try {
        connection = await dial(this.#options.address, () => {});
        this.#inUse.add(connection);
        // The process behind the lost connection may still be there, and commit after we have looked.
        await connection.query(END_PROCESS, [pid, since]);
        // Waits for it: the row is locked until its transaction is over. A set that comes later finds the lane closed.
        const { rows } = await connection.query(CLOSE_LANE, [id]);
        // No row: a failover to a standby that had not received it.
        return (rows as readonly Outcome[]).find((outcome) => outcome.last === last);
      } catch {
        // It is not known yet.
      } finally {
        if (connection !== undefined) this.#inUse.delete(connection);
        await connection?.close();
      }
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  /** Tries again after a temporary failure. */
  async #patiently<Result>(work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.patienceMs;
    for (let delay = FIRST_MS, conflicts = 0; ; ) {
      try {
        const result = await work();
        if (this.#isAway) this.#options.log?.info({}, 'PostgreSQL is back');
        this.#isAway = false;
        return result;
      } catch (error) {
        if (isConflict(error) && conflicts < MOST_CONFLICTS) {
          conflicts += 1;
          continue;
        }
        const isLost = !isSqlError(error) && error instanceof Error && LOST.test(error.message);
        const isAway =
          isLost || isPassing(error) || (error instanceof StoreError && error.code === 'store_unavailable');
        if (!isAway || this.#isClosed) throw this.#isClosed ? closed() : error;
        if (performance.now() + delay > deadline) {
          const reason = error instanceof Error ? error.message : String(error);
          throw new StoreError('store_unavailable', `PostgreSQL is not available (${reason}): nothing was recorded.`);
        }
        if (!this.#isAway) this.#options.log?.warn({ error: String(error) }, 'PostgreSQL is not available');
        this.#isAway = true;
        await new Promise((resolve) => setTimeout(resolve, delay));
        delay = Math.min(2 * delay, LONGEST_MS);
      }
    }
  }

  async #with<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#take();
    try {
      return await work(connection);
    } finally {
      this.#giveBack(connection);
    }
  }

  async #take(): Promise<PostgresConnection> {
    if (this.#isClosed) throw closed();
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      this.#inUse.add(idle);
      return idle;
    }
    if (this.#count >= this.#most) {
      const given = await new Promise<PostgresConnection | undefined>((resolve) => this.#waiting.push(resolve));
      return given ?? this.#take();
    }
    this.#count += 1;
    let connection: PostgresConnection | undefined;
    try {
      connection = await dial(this.#options.address, () => this.#forget(connection));
      this.#inUse.add(connection);
      const { rows } = await connection.query(OPEN_LANE, [this.node]);
      this.#lanes.set(connection, rows[0] as Lane);
      return connection;
    } catch (error) {
      if (connection !== undefined) this.#inUse.delete(connection);
      void connection?.close();
      this.#count -= 1;
      this.#waiting.shift()?.(undefined);
      throw error;
    }
  }

  /** Others can open one in its place while its last outcome is looked for. */
  async #giveUp(connection: PostgresConnection): Promise<void> {
    await connection.close();
    this.#giveBack(connection);
  }

  #giveBack(connection: PostgresConnection): void {
    if (connection.isLost) {
      // It may have been given up.
      if (!this.#inUse.delete(connection)) return;
      this.#count -= 1;
      this.#waiting.shift()?.(undefined);
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next(connection);
      return;
    }
    this.#inUse.delete(connection);
    this.#idle.push(connection);
  }

  /** A connection in use is discarded when it is released. */
  #forget(connection: PostgresConnection | undefined): void {
    if (connection === undefined || !this.#idle.includes(connection)) return;
    this.#idle = this.#idle.filter((one) => one !== connection);
    this.#count -= 1;
  }
}

/** The row of a connection, and the process that serves it. */
interface Lane {
  readonly id: number;
  last: number;
  readonly pid: number;
  /** When the process started: numbers of processes are used again. */
  readonly since: string;
}

/** Of the last transaction of a lane. */
interface Outcome {
  readonly last: number;
  /** If it was a set. */
  readonly reported: (number | null)[];
}

function reportedIn({ rows: [row] }: { readonly rows: readonly unknown[] }): (number | null)[] {
  // Another node deletes the lanes of one that was gone for long.
  if (row === undefined) throw new StoreError('store_unavailable', 'The lane of a connection is gone.');
  return (row as Outcome).reported;
}

function closed(): StoreError {
  return new StoreError('store_unavailable', 'The store is closed.');
}

const OPEN_LANE = `
  WITH opened AS (INSERT INTO lanes (last, node) VALUES (0, $1) RETURNING id, last)
  SELECT o.id, o.last, a.pid, a.backend_start::text AS since FROM opened o, pg_stat_activity a WHERE a.pid = pg_backend_pid()`;
const NUMBER = 'UPDATE lanes SET last = $2 WHERE id = $1';
const CLOSE_LANE = 'UPDATE lanes SET is_closed = true WHERE id = $1 RETURNING last, reported';
const END_PROCESS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2`;
/** The codes of `pg` and Node for a lost connection. */
const LOST = /terminated|not queryable|closed|ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOST|ENET|timeout expired|socket/i;
const FIRST_MS = 20;
/** For what is still under way at the end. */
const LAST_MS = 5_000;
const LONGEST_MS = 500;
const MOST_CONFLICTS = 50;
