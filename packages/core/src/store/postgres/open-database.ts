import type { Log } from '../../ports/ports.ts';
import { StoreError } from '../store-error.ts';
import { dial, type PostgresConnection } from './connection.ts';
import { isSqlError, sqlStateOf } from './errors.ts';
import { migrateSchema, SCHEMA_LOCK } from './migrate-schema.ts';
import type { PostgresAddress } from './postgres-url.ts';

/** Checks the server and brings the schema to the newest version. Returns PostgreSQL's version. Rejects with a `StoreError` that names the fix. */
export async function prepareSchema(address: PostgresAddress, log: Log | undefined): Promise<string> {
  const connection = await dial(address, () => {});
  try {
    const version = await checked(connection, log);
    await makeSchema(connection, address);
    await refuseUnfinished(connection, address);
    await migrateSchema(connection, address);
    return version;
  } catch (error) {
    throw explained(error, address);
  } finally {
    await connection.close();
  }
}

/**
 * Returns the version of a server that the store can use, and changes nothing. Rejects with a `StoreError` that names
 * the fix.
 */
export async function usableVersion(address: PostgresAddress): Promise<string> {
  const connection = await dial(address, () => {});
  try {
    return await checked(connection, undefined);
  } catch (error) {
    throw explained(error, address);
  } finally {
    await connection.close();
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

/**
 * A user who may not create schemas can use one that an administrator created. Nodes that start together create it one after the other:
 * `IF NOT EXISTS` alone fails where two connections create it at the same time.
 */
export async function makeSchema(connection: PostgresConnection, { schema }: PostgresAddress): Promise<void> {
  const { rows } = await connection.query('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]);
  if (rows.length > 0) return;
  // Both statements are sent in one message, which is one transaction.
  await connection.script(
    `SELECT pg_advisory_xact_lock(${SCHEMA_LOCK}, hashtext('${schema}')); CREATE SCHEMA IF NOT EXISTS "${schema}"`,
  );
}

/** Rejects a schema whose copy `dragoman migrate` has not finished. */
async function refuseUnfinished(connection: PostgresConnection, { schema }: PostgresAddress): Promise<void> {
  const { rows } = await connection.script("SELECT to_regclass('unfinished_copy') IS NOT NULL AS unfinished");
  if (!(rows[0] as { unfinished: boolean }).unfinished) return;
  const copy = await connection.script('SELECT source FROM unfinished_copy');
  const { source } = copy.rows[0] as { source: string };
  throw unusable(
    `The schema "${schema}" is an unfinished copy of ${source}. Run the same dragoman migrate again, or remove it: DROP SCHEMA "${schema}" CASCADE`,
  );
}

export function explained(error: unknown, { user, database, schema }: PostgresAddress): unknown {
  if (!isSqlError(error)) return error;
  const code = sqlStateOf(error);
  if (code === '42501') {
    return unusable(
      `PostgreSQL refuses the user "${user}" what the store needs: ${error.message}. ` +
        `As an administrator: GRANT CREATE ON DATABASE ${database} TO ${user}, or CREATE SCHEMA "${schema}" AUTHORIZATION ${user}`,
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

/** The store uses `IS JSON`, which earlier versions do not have. */
const OLDEST = 160_000;
