import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PostgresServer, startQuickPostgres } from '../../../test-support/postgres-server.ts';
import { ALL, frame, requestRow } from '../requests.contract.ts';
import { dial, type PostgresConnection } from './connection.ts';
import { migrateSchema, type SchemaSteps } from './migrate-schema.ts';
import { makeSchema } from './open-database.ts';
import { connectPostgresStore, type PostgresStore } from './postgres-store.ts';
import { readPostgresUrl } from './postgres-url.ts';
import { STEPS } from './schema.ts';

let server: PostgresServer;
let url = '';
let schemas = 0;

beforeAll(async () => {
  server = await startQuickPostgres();
});

afterAll(() => server?.stop());

beforeEach(() => {
  schemas += 1;
  url = server.url(`migrated_${schemas}`);
});

const connected = () => dial(readPostgresUrl(url), () => {});

/** As the node of another release does when it starts. */
async function migrateTo(release: SchemaSteps): Promise<void> {
  const connection = await connected();
  try {
    await migrateSchema(connection, readPostgresUrl(url), release);
  } finally {
    await connection.close();
  }
}

/** The next release only adds. */
const EXPANDED: SchemaSteps = {
  steps: [...STEPS, 'ALTER TABLE requests ADD COLUMN more text', 'CREATE TABLE later (id integer)'],
  least: 1,
};
/** The one after it removes what this release uses. */
const CONTRACTED: SchemaSteps = {
  steps: [...EXPANDED.steps, 'ALTER TABLE requests DROP COLUMN priority'],
  least: EXPANDED.steps.length,
};

/** Accepts and answers requests until it is stopped. */
function load(store: PostgresStore, name: string) {
  let isOn = true;
  let count = 0;
  const lanes = [0, 1, 2, 3].map(async (lane) => {
    while (isOn) {
      const requestId = `${name}-${lane}-${count}`;
      const accepted = await store.requests.accept(requestRow({ requestId, state: 'started' }));
      if (!('held' in accepted) || accepted.held === null) throw new Error(`${requestId} was not recorded`);
      await store.requests.append(accepted.held, [frame(0), { ...frame(1), isFinal: true }]);
      count += 1;
    }
  });
  return {
    count: () => count,
    stop: async () => {
      isOn = false;
      await Promise.all(lanes);
    },
  };
}

/** Keeps a table locked, as a long report does, until the returned function is called. */
async function occupy(table: string): Promise<() => Promise<void>> {
  const reader: PostgresConnection = await connected();
  await reader.script(`BEGIN; LOCK TABLE ${table} IN ACCESS SHARE MODE`);
  return () => reader.close();
}

test('the next release migrates beside a node of this one, which continues, and may start again', async () => {
  await using store = await connectPostgresStore({ url, name: 'old' });
  const before = load(store, 'before');
  const release = await occupy('requests');
  const migrated = migrateTo(EXPANDED);
  // The reader is in the way of the column, and the column must not be in the way of those who write meanwhile.
  const reached = before.count() + 50;
  await expect.poll(before.count).toBeGreaterThan(reached);
  expect(await Promise.race([migrated.then(() => 'migrated'), 'waits'])).toBe('waits');
  await release();
  await migrated;
  await before.stop();
  await using again = await connectPostgresStore({ url, name: 'old, restarted' });
  const after = load(again, 'after');
  await expect.poll(after.count).toBeGreaterThan(50);
  await after.stop();
});

test('what older nodes use is removed only when none of them is left, and then they are refused', async () => {
  const store = await connectPostgresStore({ url, name: 'old', version: '0.1.0' });
  await migrateTo(EXPANDED);
  await expect(migrateTo(CONTRACTED)).rejects.toMatchObject({
    code: 'store_locked',
    message: expect.stringContaining('older nodes use: old (1, version 0.1.0). Stop them'),
  });
  expect(await store.requests.accept(requestRow({ requestId: 'still' }))).toMatchObject({ repeat: false });
  await store[Symbol.asyncDispose]();
  await migrateTo(CONTRACTED);
  await expect(connectPostgresStore({ url })).rejects.toMatchObject({
    code: 'store_newer',
    message: expect.stringContaining(
      `needs a program that knows its version ${EXPANDED.steps.length}, and this one knows`,
    ),
  });
});

test('nodes that start together on an empty database create its schema and migrate it once', async () => {
  for (let round = 0; round < 5; round += 1) {
    url = server.url(`together_${round}`);
    const names = Array.from({ length: 8 }, (_, index) => String(index));
    const stores = await Promise.all(names.map((name) => connectPostgresStore({ url, name })));
    expect((await stores[0]?.cluster.database())?.schemaVersion).toBe(STEPS.length);
    for (const store of stores) await store[Symbol.asyncDispose]();
  }
});

test('connections that create a schema at the same moment all find it', async () => {
  const connections = await Promise.all(Array.from({ length: 6 }, connected));
  for (let round = 0; round < 20; round += 1) {
    const address = readPostgresUrl(server.url(`created_${round}`));
    await Promise.all(connections.map((connection) => makeSchema(connection, address)));
  }
  for (const connection of connections) await connection.close();
});

test('long frames are compressed with lz4 where PostgreSQL was built with it, and read as they were written', async () => {
  await using store = await connectPostgresStore({ url });
  const row = requestRow({ state: 'started' });
  const accepted = await store.requests.accept(row);
  if (!('held' in accepted) || accepted.held === null) throw new Error('it was not recorded');
  const long = frame(0, { text: JSON.stringify({ text: 'abc'.repeat(30_000) }) });
  await store.requests.append(accepted.held, [long]);
  expect(await store.requests.frames(row, ALL)).toEqual([long]);
  const connection = await connected();
  const { rows } = await connection.query(`
    SELECT pg_column_compression("text") AS used, 'lz4' = ANY (enumvals) AS "hasLz4"
    FROM frames, pg_settings WHERE pg_settings.name = 'default_toast_compression'`);
  await connection.close();
  const [{ used, hasLz4 }] = rows as [{ used: string; hasLz4: boolean }];
  if (!hasLz4) console.info('lz4 is NOT TESTED: this PostgreSQL was built without it');
  expect(used).toBe(hasLz4 ? 'lz4' : 'pglz');
});
