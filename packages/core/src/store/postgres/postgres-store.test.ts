import { afterAll, beforeAll, describe } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../test-support/postgres-server.ts';
import { describeDamages } from '../damages.contract.ts';
import { describeStore } from '../store.contract.ts';
import type { Store } from '../store.ts';
import { dial } from './connection.ts';
import { connectPostgresStore } from './postgres-store.ts';
import { readPostgresUrl } from './postgres-url.ts';

let server: PostgresServer;
let schemas = 0;
const schemaOf = new WeakMap<Store, string>();

beforeAll(async () => {
  // What these tests check does not depend on it, and they write a lot.
  process.env['DRAGOMAN_ALLOW_FSYNC_OFF'] = '1';
  const started = await startPostgres();
  if (started === undefined)
    throw new Error('this platform has no PostgreSQL to test with: install one, so that initdb is found');
  server = started;
});

afterAll(async () => {
  delete process.env['DRAGOMAN_ALLOW_FSYNC_OFF'];
  await server?.stop();
});

async function open(earlier?: Store, statement?: string): Promise<Store> {
  await earlier?.[Symbol.asyncDispose]();
  schemas += 1;
  const schema = (earlier && schemaOf.get(earlier)) ?? `test_${schemas}`;
  if (statement !== undefined) {
    const connection = await dial(readPostgresUrl(server.url(schema)), () => {});
    await connection.query(statement, []);
    await connection.close();
  }
  const store = await connectPostgresStore({ url: server.url(schema) });
  schemaOf.set(store, schema);
  return store;
}

describe('on PostgreSQL', () => {
  describeStore('the store in PostgreSQL', open);
  describeDamages('PostgreSQL', open);
});
