import type { Log } from '../../ports/ports.ts';
import { StoreError } from '../store-error.ts';
import { dial, POOLER, type PostgresConnection } from './connection.ts';
import { isSqlError, sqlStateOf } from './errors.ts';
import type { PostgresAddress } from './postgres-url.ts';
import { STEPS } from './schema.ts';

/** The schema of one server, held for as long as it runs: no other server may use it. */
export interface HeldSchema {
  /** The number of this node. No other start ever has it. */
  readonly node: number;
  /** PostgreSQL's version, as it shows it. */
  readonly version: string;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly address: PostgresAddress;
  readonly log?: Log | undefined;
  /** Of this program. */
  readonly version: string;
  readonly name: string;
  /** Called when another server has taken the schema over. */
  readonly onTaken: (error: StoreError) => void;
}

/** Checks the server, brings the schema to the newest version and takes it. Rejects with a `StoreError` that says what to change. */
export async function openSchema(options: OpenOptions): Promise<HeldSchema> {
  const { address, log } = options;
  let isClosed = false;
  let keeper: PostgresConnection | undefined;
  const keep = async () => {
    if (!isClosed) await keepLock();
  };
  keeper = await dial(address, () => void keep());
  try {
    const version = await checked(keeper, log);
    await lock(keeper, address);
    await makeSchema(keeper, address);
    await refuseUnfinished(keeper, address);
    await migrate(keeper, address);
    const { rows } = await keeper.query(
      "INSERT INTO nodes (name, version, state) VALUES ($1, $2, 'live') RETURNING id",
      [options.name, options.version],
    );
    const { id: node } = rows[0] as { id: number };
    // Of connections that are gone: nobody else has this schema.
    await keeper.script('DELETE FROM lanes');
    return {
      node,
      version,
      close: async () => {
        isClosed = true;
        await keeper?.query("UPDATE nodes SET state = 'left' WHERE id = $1", [node]).catch(() => {});
        await keeper?.close();
      },
    };
  } catch (error) {
    isClosed = true;
    await keeper.close();
    throw explained(error, address);
  }

  /** The lock goes with its connection. Whoever has it then has started meanwhile. */
  async function keepLock(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (isClosed) return;
      try {
        const next = await dial(address, () => void keep());
        keeper = next;
        await lock(next, address);
        return;
      } catch (error) {
        if (error instanceof StoreError && error.code === 'store_locked') return options.onTaken(error);
      }
    }
  }
}

async function checked(connection: PostgresConnection, log: Log | undefined): Promise<string> {
  const { rows } = await connection.script(`
    SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous,
      current_setting('server_encoding') AS encoding`);
  const { number, version, fsync, synchronous, encoding } = rows[0] as Record<
    'version' | 'fsync' | 'synchronous' | 'encoding',
    string
  > & { number: number };
  if (number < OLDEST) throw unusable(`PostgreSQL ${version} is too old. Version 16 or later is needed`);
  if (encoding !== 'UTF8') throw unusable(`The database has the encoding ${encoding}. Create one with ENCODING 'UTF8'`);
  if (synchronous === 'off') {
    throw unusable('synchronous_commit is off, so a crash of PostgreSQL loses what was acknowledged. Set it to on');
  }
  if (fsync === 'off') {
    if (process.env['DRAGOMAN_ALLOW_FSYNC_OFF'] !== '1') {
      throw unusable('fsync is off, so a power failure destroys the database. Set it to on');
    }
    log?.warn({}, 'PostgreSQL runs with fsync off: for tests only');
  }
  return version;
}

/** Until the connection ends, no other process has the schema. */
export async function lock(connection: PostgresConnection, { schema }: PostgresAddress): Promise<void> {
  const { rows } = await connection.query(
    'SELECT pg_try_advisory_lock($1, hashtext($2)) AS taken, pg_backend_pid() AS pid',
    [LOCK, schema],
  );
  if (!(rows[0] as { taken: boolean }).taken) {
    throw new StoreError(
      'store_locked',
      `Another server uses the schema "${schema}" of this database. Stop it, or choose another with ?schema=`,
    );
  }
  // A pooler in transaction mode hands the next statement to another connection, which does not have the lock.
  const again = await connection.query(
    `SELECT pg_backend_pid() AS pid, EXISTS (
       SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND pid = pg_backend_pid()) AS held`,
    [LOCK],
  );
  const { pid, held } = again.rows[0] as { pid: number; held: boolean };
  if (!held || pid !== (rows[0] as { pid: number }).pid) throw unusable(POOLER);
}

/** Each step once, in a transaction of its own together with its number. */
export async function migrate(connection: PostgresConnection, { schema }: PostgresAddress): Promise<void> {
  await connection.script(
    'CREATE TABLE IF NOT EXISTS schema_version (id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL)',
  );
  const { rows } = await connection.script('SELECT version FROM schema_version');
  const version = (rows[0] as { version: number } | undefined)?.version ?? 0;
  if (version > STEPS.length) {
    throw new StoreError(
      'store_newer',
      `The schema "${schema}" has version ${version} and this program knows versions up to ${STEPS.length}. ` +
        'Run the newer program that wrote it, or choose another schema.',
    );
  }
  for (let next = version; next < STEPS.length; next += 1) {
    await connection.script(
      `BEGIN; ${STEPS[next]}; INSERT INTO schema_version (id, version) VALUES (1, ${next + 1})
       ON CONFLICT (id) DO UPDATE SET version = excluded.version; COMMIT`,
    );
  }
}

/** A user who may not make schemas can have one that an administrator made. */
export async function makeSchema(connection: PostgresConnection, { schema }: PostgresAddress): Promise<void> {
  const { rows } = await connection.query('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]);
  if (rows.length === 0) await connection.script(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
}

/** A copy that `dragoman migrate` has not finished. */
async function refuseUnfinished(connection: PostgresConnection, { schema }: PostgresAddress): Promise<void> {
  const { rows } = await connection.script("SELECT to_regclass('unfinished_copy') IS NOT NULL AS unfinished");
  if (!(rows[0] as { unfinished: boolean }).unfinished) return;
  const copy = await connection.script('SELECT source FROM unfinished_copy');
  const { source } = copy.rows[0] as { source: string };
  throw unusable(
    `The schema "${schema}" is an unfinished copy of ${source}. Run the same dragoman migrate again, or remove it: DROP SCHEMA ${schema} CASCADE`,
  );
}

export function explained(error: unknown, { user, database, schema }: PostgresAddress): unknown {
  if (!isSqlError(error)) return error;
  const code = sqlStateOf(error);
  if (code === '42501') {
    return unusable(
      `PostgreSQL refuses the user "${user}" what the store needs: ${error.message}. ` +
        `As an administrator: GRANT CREATE ON DATABASE ${database} TO ${user}, or CREATE SCHEMA ${schema} AUTHORIZATION ${user}`,
    );
  }
  if (code === '42P07') {
    return new StoreError(
      'store_foreign',
      `The schema "${schema}" has tables of another program. Choose another with ?schema=`,
    );
  }
  return error;
}

function unusable(message: string): StoreError {
  return new StoreError('store_unreachable', `${message}.`);
}

/** `IS JSON` is needed. */
const OLDEST = 160_000;
/** "Drag": tells our locks from those of other programs. */
const LOCK = 0x44726167;
const RETRY_MS = 500;
