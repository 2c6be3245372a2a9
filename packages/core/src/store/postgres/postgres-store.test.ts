import { afterAll, beforeAll, describe } from 'vitest';
import { type PostgresServer, startQuickPostgres } from '../../../test-support/postgres-server.ts';
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
  server = await startQuickPostgres();
});

afterAll(() => server?.stop());

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
