import { StoreError } from '../store-error.ts';
import type { PostgresConnection } from './connection.ts';
import { sqlStateOf } from './errors.ts';
import type { PostgresAddress } from './postgres-url.ts';
import { LEAST_STEPS, STEPS } from './schema.ts';

/** The version of the tables that a release knows. */
export interface SchemaSteps {
  readonly steps: readonly string[];
  /** How many of the steps a node must know, to work with the tables as they are after the last one. */
  readonly least: number;
}

/** "Migr": the advisory lock under which one node at a time creates and migrates a schema. */
export const SCHEMA_LOCK = 0x4d696772;

/**
 * Brings the tables to the newest version while other nodes use them. One node at a time migrates. Each step is a
 * transaction of its own that soon stops waiting for a lock, because the statements of other nodes would queue behind
 * it. Tables that a newer release has changed are used as long as they have everything that this release needs.
 */
export async function migrateSchema(
  connection: PostgresConnection,
  { schema }: PostgresAddress,
  { steps, least }: SchemaSteps = { steps: STEPS, least: LEAST_STEPS },
): Promise<void> {
  // The lock is released when the connection closes.
  await connection.query('SELECT pg_advisory_lock($1, hashtext($2))', [SCHEMA_LOCK, schema]);
  await connection.script(
    'CREATE TABLE IF NOT EXISTS schema_version (id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL)',
  );
  const { rows } = await connection.script(FOUND);
  const { version, needed } = (rows[0] as { version: number; needed: number } | undefined) ?? { version: 0, needed: 0 };
  if (needed > steps.length) {
    throw new StoreError(
      'store_newer',
      `The schema "${schema}" needs a program that knows its version ${needed}, and this one knows versions up to ${steps.length}. ` +
        'Run the newer program that migrated it, or choose another schema.',
    );
  }
  if (version >= steps.length) return;
  if (least > needed && version > 0) await refuseOlder(connection, least);
  await connection.script(`SET lock_timeout = ${LOCK_MS}`);
  for (let next = version; next < steps.length; next += 1) {
    const isLast = next + 1 === steps.length;
    await step(
      connection,
      `BEGIN; ${steps[next]}; INSERT INTO schema_version (id, version) VALUES (1, ${next + 1})
       ON CONFLICT (id) DO UPDATE SET version = excluded.version;
       ${isLast ? `UPDATE schema_version SET least_steps = GREATEST(least_steps, ${least});` : ''} COMMIT`,
    );
  }
  await connection.script('RESET lock_timeout');
}

/** Rejects the migration while nodes run that use tables or columns which it removes. */
async function refuseOlder(connection: PostgresConnection, least: number): Promise<void> {
  const { rows } = await connection.query(OLDER, [least]);
  const older = (rows as { id: number; name: string; version: string }[]).map(
    ({ id, name, version }) => `${name} (${id}, version ${version})`,
  );
  if (older.length === 0) return;
  throw new StoreError(
    'store_locked',
    `This version removes from the tables what older nodes use: ${older.join(', ')}. Stop them, or upgrade them to the version before this one first.`,
  );
}

/** Retries while other connections hold a lock that the step needs. They continue between the attempts. */
async function step(connection: PostgresConnection, script: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      await connection.script(script);
      return;
    } catch (error) {
      if (!connection.isLost) await connection.script('ROLLBACK');
      const isBusy = ['55P03', '40P01'].includes(sqlStateOf(error) ?? '');
      if (!isBusy || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Reads `least_steps` as JSON, because older tables do not have the column yet. */
const FOUND = "SELECT version, COALESCE((to_jsonb(s) ->> 'least_steps')::integer, 1) AS needed FROM schema_version s";
/** A node that has been silent for a minute counts as gone. */
const OLDER = `
  SELECT id, name, version FROM nodes n
  WHERE state IN ('live', 'leaving') AND beat_at > clock_timestamp() - interval '1 minute'
    AND COALESCE((to_jsonb(n) ->> 'steps')::integer, 0) < $1 ORDER BY id`;
const LOCK_MS = 100;
const RETRY_MS = 200;
const PATIENCE_MS = 60_000;
