import { bigints, byteStrings, integers, texts } from '../store/postgres/arrays.ts';
import { dial, type PostgresConnection } from '../store/postgres/connection.ts';
import { migrateSchema } from '../store/postgres/migrate-schema.ts';
import { LOCK } from '../store/postgres/node.ts';
import { explained, makeSchema } from '../store/postgres/open-database.ts';
import { type PostgresAddress, readPostgresUrl, shownPostgresUrl } from '../store/postgres/postgres-url.ts';
import { StoreError } from '../store/store-error.ts';
import {
  type CopyColumn,
  type CopyEnd,
  type CopyQuery,
  type CopyRow,
  type CopyTarget,
  type CopyValue,
  otherCopy,
} from './copy-end.ts';

/** Opens a schema to copy from. Like a start of the server, this brings it to the newest version. */
export async function openPostgresSource(url: string): Promise<CopyEnd> {
  return opened(url, async (connection, address) => {
    if ((await tablesOf(connection, address)).length === 0) {
      throw new StoreError(
        'store_foreign',
        `The schema "${address.schema}" has no store: nothing can be copied from it.`,
      );
    }
    await migrateSchema(connection, address);
    const { rows } = await connection.script('SELECT COALESCE(max(id), 0) AS starts FROM nodes');
    const { starts } = rows[0] as { starts: number };
    return new PostgresEnd(connection, address, `${shownPostgresUrl(url)} after ${starts} starts`);
  });
}

/** Opens a schema to copy to. No server starts on it before the copy is complete. */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  return opened(url, async (connection, address) => new PostgresTarget(connection, address, shownPostgresUrl(url)));
}

async function opened<End>(
  url: string,
  open: (connection: PostgresConnection, address: PostgresAddress) => Promise<End>,
): Promise<End> {
  const address = readPostgresUrl(url);
  const connection = await dial(address, () => {});
  try {
    await takeAlone(connection, address);
    return await open(connection, address);
  } catch (error) {
    await connection.close();
    throw explained(error, address);
  }
}

/** Takes the lock of the schema exclusively. Every running node has it as a shared lock. */
async function takeAlone(connection: PostgresConnection, { schema }: PostgresAddress): Promise<void> {
  const { rows } = await connection.query('SELECT pg_try_advisory_lock($1, hashtext($2)) AS taken', [LOCK, schema]);
  if ((rows[0] as { taken: boolean }).taken) return;
  throw new StoreError('store_locked', `A server uses the schema "${schema}" of this database. Stop every node first.`);
}

class PostgresEnd implements CopyEnd {
  readonly kind = 'postgres';
  readonly identity: string;
  protected readonly connection: PostgresConnection;
  protected readonly address: PostgresAddress;

  constructor(connection: PostgresConnection, address: PostgresAddress, identity: string) {
    this.connection = connection;
    this.address = address;
    this.identity = identity;
  }

  tables(): Promise<string[]> {
    return tablesOf(this.connection, this.address);
  }

  async columns(table: string): Promise<CopyColumn[]> {
    const { rows } = await this.connection.query(COLUMNS, [this.address.schema, table]);
    return rows as CopyColumn[];
  }

  async *rows({ columns, rows, key }: CopyQuery, after: CopyRow = []): AsyncGenerator<CopyRow[]> {
    const fields = columns.map(({ expression, name }) => `${expression} AS "${name}"`).join(', ');
    const places = after.map((_, index) => `$${index + 1}`).join(', ');
    const from = after.length === 0 ? '' : `WHERE (${key.join(', ')}) > (${places})`;
    await this.connection.script('BEGIN');
    try {
      await this.connection.query(
        `DECLARE copied NO SCROLL CURSOR FOR SELECT ${fields} FROM ${rows} ${from} ORDER BY ${key.join(', ')}`,
        after,
      );
      for (;;) {
        const { rows: found } = await this.connection.script(`FETCH ${FETCHED} FROM copied`);
        if (found.length === 0) break;
        yield found.map((row) => columns.map(({ name }) => (row as Record<string, CopyValue>)[name] ?? null));
      }
    } finally {
      await this.connection.script('ROLLBACK').catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close();
  }
}

class PostgresTarget extends PostgresEnd implements CopyTarget {
  async begin(source: string): Promise<void> {
    const { connection, address, identity } = this;
    const tables = await this.tables();
    if (tables.includes('unfinished_copy')) {
      const { rows } = await connection.script('SELECT source FROM unfinished_copy');
      const { source: found } = rows[0] as { source: string };
      if (found !== source) throw otherCopy(identity, found, source);
    } else {
      if (tables.length > 0) throw notEmpty(address);
      await makeSchema(connection, address);
      await connection.script('BEGIN; CREATE TABLE unfinished_copy (source text NOT NULL)');
      await connection.query('INSERT INTO unfinished_copy (source) VALUES ($1)', [source]);
      await connection.script('COMMIT');
    }
    await migrateSchema(connection, address);
  }

  async last({ table, key }: CopyQuery): Promise<CopyRow | undefined> {
    const order = key.map((column) => `${column} DESC`).join(', ');
    const { rows } = await this.connection.query(`SELECT ${key.join(', ')} FROM ${table} ORDER BY ${order} LIMIT 1`);
    const row = rows[0] as Record<string, CopyValue> | undefined;
    return row === undefined ? undefined : key.map((column) => row[column] ?? null);
  }

  async insert(table: string, columns: readonly CopyColumn[], rows: readonly CopyRow[]): Promise<void> {
    const names = columns.map(({ name }) => name).join(', ');
    // Numbers of the type `double precision` are sent as text, because there is no binary array for them.
    const fields = columns.map(({ name, type }) => `i.${name}::${type}`).join(', ');
    const arrays = columns.map(({ type }, index) => `$${index + 1}::${type === 'double precision' ? 'text' : type}[]`);
    await this.connection.query(
      `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE SELECT ${fields} FROM unnest(${arrays.join(', ')}) AS i (${names})`,
      columns.map(({ type }, index) => ARRAYS[type](rows.map((row) => row[index] ?? null))),
    );
  }

  async finish(): Promise<void> {
    const { connection, address } = this;
    const { rows } = await connection.query(IDENTITIES, [address.schema]);
    const next = (rows as { table: string; column: string }[]).map(
      ({ table, column }) =>
        `SELECT setval(pg_get_serial_sequence('${address.schema}.${table}', '${column}'), GREATEST(max(${column}), 1)) FROM ${table}`,
    );
    await connection.script(`BEGIN; ${UNHELD_NODE}; ${next.join('; ')}; DROP TABLE unfinished_copy; COMMIT`);
  }
}

async function tablesOf(connection: PostgresConnection, { schema }: PostgresAddress): Promise<string[]> {
  const { rows } = await connection.query(
    'SELECT tablename AS name FROM pg_catalog.pg_tables WHERE schemaname = $1 ORDER BY tablename',
    [schema],
  );
  return (rows as { name: string }[]).map(({ name }) => name);
}

function notEmpty({ schema }: PostgresAddress): StoreError {
  return new StoreError(
    'store_foreign',
    `The schema "${schema}" is not empty. Name a new schema at the end of the --to URL (?schema=NAME), or delete "${schema}" with everything in it: DROP SCHEMA "${schema}" CASCADE`,
  );
}

const ARRAYS: Readonly<Record<CopyColumn['type'], (values: readonly CopyValue[]) => Buffer>> = {
  text: (values) => texts(values as (string | null)[]),
  bigint: (values) => bigints(values as (number | null)[]),
  integer: (values) => integers(values as (number | null)[]),
  'double precision': (values) => texts(values.map((value) => (value === null ? null : String(value)))),
  bytea: (values) => byteStrings(values as (Uint8Array | null)[]),
};

/** Adds a node that has left. It holds all open rows, so the first node that starts claims them. */
const UNHELD_NODE =
  "INSERT INTO nodes (id, name, version, state) OVERRIDING SYSTEM VALUE VALUES (0, 'dragoman migrate', '', 'left')";
const COLUMNS = `
  SELECT column_name AS name, data_type AS type, is_nullable = 'YES' OR is_identity = 'YES' OR column_default IS NOT NULL AS "isOptional"
  FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position`;
const IDENTITIES = `
  SELECT table_name AS table, column_name AS column FROM information_schema.columns
  WHERE table_schema = $1 AND is_identity = 'YES' ORDER BY table_name`;
const FETCHED = 100;
