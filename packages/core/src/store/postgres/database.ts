import type { Log } from '../../ports/ports.ts';
import { StoreError } from '../store-error.ts';
import { dial, type PostgresConnection } from './connection.ts';
import { isConflict, isPassing, isSqlError } from './errors.ts';
import type { PostgresAddress } from './postgres-url.ts';

/** Statements in one transaction, or each in its own. */
export interface Queries {
  all<Row>(text: string, ...values: unknown[]): Promise<Row[]>;
  get<Row>(text: string, ...values: unknown[]): Promise<Row | undefined>;
  /** Returns the number of rows it wrote. */
  run(text: string, ...values: unknown[]): Promise<number>;
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
 * Connections to one database, and the two ways to use them.
 *
 *   read    one statement, which is repeated on another connection if its connection is lost
 *   write   one transaction. If its connection is lost during the commit, the outcome is unknown. Each transaction
 *           therefore writes its number into the row of its connection in `lanes`, and that row shows the outcome.
 *           So `store_unavailable` always means that nothing was recorded.
 */
export class PostgresDatabase {
  readonly #options: DatabaseOptions;
  readonly #patienceMs: number;
  readonly #most: number;
  readonly #lanes = new WeakMap<PostgresConnection, Lane>();
  #idle: PostgresConnection[] = [];
  readonly #inUse = new Set<PostgresConnection>();
  #count = 0;
  #waiting: ((connection: PostgresConnection | undefined) => void)[] = [];
  #isClosed = false;
  #isAway = false;
  /** The number of this node, recorded as the holder of all work that it opens. 0 before the node has joined. */
  node = 0;
  writes = 0;
  commits = 0;
  commitMs = 0;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#most = options.connections ?? 8;
    this.#patienceMs = options.patienceMs ?? 30_000;
  }

  /** Runs each statement on its own, on any connection. */
  readonly read: Queries = {
    all: async <Row>(text: string, ...values: unknown[]) =>
      this.#patiently(async () => {
        const { rows } = await this.#with((connection) => connection.query(text, values));
        return rows as Row[];
      }),
    get: async <Row>(text: string, ...values: unknown[]) => (await this.read.all<Row>(text, ...values))[0],
    run: () => Promise.reject(new Error('a read does not write')),
  };

  /** Runs `work` in a transaction. `work` may run more than once, until a transaction commits. */
  write<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    return this.#patiently(() => this.#with((connection) => this.#transaction(connection, work)));
  }

  /**
   * Closes all connections, which the network may have dropped silently. Their reads and transactions are tried again
   * on new connections.
   */
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
    work: (queries: Queries) => Promise<Result>,
  ): Promise<Result> {
    const startedAt = performance.now();
    const lane = this.#lanes.get(connection);
    if (lane === undefined) throw new Error('a connection has no lane');
    lane.last += 1;
    // Not awaited here: both are sent together with the first statement of `work`.
    const began = [connection.script('BEGIN'), connection.query(NUMBER, [lane.id, lane.last])];
    for (const one of began) one.catch(() => {});
    const all = async <Row>(text: string, ...values: unknown[]) => (await connection.query(text, values)).rows as Row[];
    let result: Result;
    try {
      result = await work({
        all,
        get: async <Row>(text: string, ...values: unknown[]) => (await all<Row>(text, ...values))[0],
        run: async (text, ...values) => (await connection.query(text, values)).rowCount ?? 0,
      });
      const [, numbered] = await Promise.all(began);
      if (numbered?.rowCount === 0) {
        // The row was deleted with its node. Without it, the outcome of a commit could not be determined.
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
      // The outcome is checked even if PostgreSQL reported an error: an error during its shutdown does not show whether
      // the transaction committed.
      await connection.close();
      if (!(await this.#hasCommitted(lane))) throw error;
    }
    this.writes += 1;
    this.commits += 1;
    this.commitMs += performance.now() - startedAt;
    return result;
  }

  /** Retries without a time limit: no caller may get an answer before the outcome is known. */
  async #hasCommitted({ id, last, pid, since }: Lane): Promise<boolean> {
    for (let delay = FIRST_MS; ; delay = Math.min(2 * delay, LONGEST_MS)) {
      if (this.#isClosed) throw new Error('the store was closed before it was known whether a transaction committed');
      let connection: PostgresConnection | undefined;
      try {
        connection = await dial(this.#options.address, () => {});
        this.#inUse.add(connection);
        // The server process of the lost connection may still run, and could commit after this check.
        await connection.query(END_PROCESS, [pid, since]);
        // FOR UPDATE waits for that process: the row is locked until its transaction is over.
        const { rows } = await connection.query('SELECT last FROM lanes WHERE id = $1 FOR UPDATE', [id]);
        // The row is missing after a failover to a standby that had not received it.
        return (rows[0] as Pick<Lane, 'last'> | undefined)?.last === last;
      } catch {
        // The outcome is not known yet.
      } finally {
        if (connection !== undefined) this.#inUse.delete(connection);
        await connection?.close();
      }
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }

  /** Tries again after a temporary failure. */
  async #patiently<Result>(work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#patienceMs;
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

  #giveBack(connection: PostgresConnection): void {
    if (connection.isLost) {
      this.#inUse.delete(connection);
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

  /** Removes an idle connection that is lost. `#giveBack` discards a lost connection that is in use. */
  #forget(connection: PostgresConnection | undefined): void {
    if (connection === undefined || !this.#idle.includes(connection)) return;
    this.#idle = this.#idle.filter((one) => one !== connection);
    this.#count -= 1;
  }
}

/** The row of a connection in the table `lanes`, and the server process of that connection. */
interface Lane {
  readonly id: number;
  last: number;
  readonly pid: number;
  /** When the server process started. It identifies the process, because process ids are used again. */
  readonly since: string;
}

function closed(): StoreError {
  return new StoreError('store_unavailable', 'The store is closed.');
}

const OPEN_LANE = `
  WITH opened AS (INSERT INTO lanes (last, node) VALUES (0, $1) RETURNING id, last)
  SELECT o.id, o.last, a.pid, a.backend_start::text AS since FROM opened o, pg_stat_activity a WHERE a.pid = pg_backend_pid()`;
const NUMBER = 'UPDATE lanes SET last = $2 WHERE id = $1';
const END_PROCESS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2`;
/** The codes of `pg` and Node for a lost connection. */
const LOST = /terminated|not queryable|closed|ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOST|ENET|timeout expired|socket/i;
const FIRST_MS = 20;
/** How long `close` waits for connections that are in use. */
const LAST_MS = 5_000;
const LONGEST_MS = 500;
const MOST_CONFLICTS = 50;
