/// <reference path="./pg-client.d.ts" />
import Client, { type QueryResult } from 'pg/lib/client.js';
import { StoreError } from '../store-error.ts';
import { isSqlError, sqlStateOf } from './errors.ts';
import type { PostgresAddress } from './postgres-url.ts';

/** A connection to the server that takes writes. Each statement is prepared once per connection. */
export class PostgresConnection {
  readonly #client: Client;
  #isLost = false;

  constructor(client: Client, onLost: () => void) {
    this.#client = client;
    const lose = () => {
      if (this.#isLost) return;
      this.#isLost = true;
      onLost();
    };
    client.on('error', lose);
    client.on('end', lose);
  }

  /** Calls the listener with each message on a channel that this connection listens to. */
  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload = '' }) => listener(payload));
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Runs one prepared statement. */
  async query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
    const result = await this.#client.query({ name: nameOf(text), text, values });
    return Array.isArray(result) ? (result.at(-1) ?? NOTHING) : result;
  }

  /** Runs statements without values in one message. Returns the result of the last statement. */
  async script(text: string): Promise<QueryResult> {
    const result = await this.#client.query({ text });
    return Array.isArray(result) ? (result.at(-1) ?? NOTHING) : result;
  }

  /** Closes the connection, even if the server does not answer. */
  async close(): Promise<void> {
    this.#isLost = true;
    const timer = setTimeout(() => this.#client.connection.stream.destroy(), GOODBYE_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
  }
}

/**
 * Connects to the first host that takes writes. Throws a `StoreError`: `store_unreachable` for problems that only an operator can fix, and
 * `store_unavailable` for temporary ones.
 */
export async function dial(address: PostgresAddress, onLost: () => void): Promise<PostgresConnection> {
  const reasons: string[] = [];
  for (const { host, port } of address.hosts) {
    const { user, password, database, schema, ssl } = address;
    const client = new Client({
      ...{ host, port, user, password, database, ssl },
      options: `-c search_path=${schema} -c client_min_messages=warning -c statement_timeout=0`,
      application_name: 'dragoman',
      connectionTimeoutMillis: DIAL_MS,
      keepAlive: true,
      pipeline: true,
      types: { getTypeParser },
    });
    const connection = new PostgresConnection(client, onLost);
    const timer = setTimeout(() => void connection.close(), 2 * DIAL_MS);
    try {
      await client.connect();
      const { rows } = await connection.script('SELECT pg_is_in_recovery() AS standby');
      if ((rows[0] as { standby: boolean }).standby) throw new Error('it is a standby, which takes no writes');
      return connection;
    } catch (error) {
      await connection.close();
      const refusal = refusalOf(error, address);
      if (refusal !== undefined) throw refusal;
      reasons.push(`${host}:${port}: ${error instanceof Error ? error.message || String(error) : String(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }
  throw new StoreError('store_unavailable', `PostgreSQL cannot be reached (${reasons.join('; ')}).`);
}

/** Explains errors that a retry cannot fix. `undefined` for all others. */
function refusalOf(error: unknown, { user, database }: PostgresAddress): StoreError | undefined {
  const code = sqlStateOf(error);
  const message = isSqlError(error) ? error.message : '';
  if (code === '28P01' || code === '28000') {
    return unreachable(
      `PostgreSQL refused the user "${user}": ${message}. Check the user, and the password in the URL or PGPASSWORD`,
    );
  }
  if (code === '3D000')
    return unreachable(`The database "${database}" does not exist. Create it: CREATE DATABASE ${database}`);
  if (code === '08P01' && message.includes('startup parameter')) return unreachable(POOLER);
  if (error instanceof Error && error.message.includes('password must be a string')) {
    return unreachable(
      `PostgreSQL asks for a password for the user "${user}". Write it into the URL, or set PGPASSWORD`,
    );
  }
  return undefined;
}

function unreachable(message: string): StoreError {
  return new StoreError('store_unreachable', `${message}.`);
}

/** Numbers are exact: none in these tables exceeds JavaScript's largest safe integer. */
function getTypeParser(oid: number): (value: string) => unknown {
  return PARSERS[oid] ?? asItIs;
}

const asItIs = (value: string) => value;
const PARSERS: Readonly<Record<number, (value: string) => unknown>> = {
  16: (value) => value === 't',
  17: (value) => new Uint8Array(Buffer.from(value.slice(2), 'hex')),
  20: Number,
  21: Number,
  23: Number,
  701: Number,
  1700: Number,
};

/** Short names for statements: the same text is prepared once. */
function nameOf(text: string): string {
  let name = NAMES.get(text);
  if (name === undefined) {
    name = `d${NAMES.size + 1}`;
    NAMES.set(text, name);
  }
  return name;
}

const NAMES = new Map<string, string>();
const NOTHING: QueryResult = { rows: [], rowCount: 0 };
const DIAL_MS = 5_000;
const GOODBYE_MS = 1_000;
export const POOLER =
  'The URL leads to a connection pooler in transaction mode, on which locks and prepared statements do not hold. Give the address of PostgreSQL itself';
