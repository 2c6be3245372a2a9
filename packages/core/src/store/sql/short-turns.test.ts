import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../migrations.ts';
import type { RequestQuery } from '../request-list.ts';
import { DATABASE } from '../sqlite-database.ts';
import { type Database, loadEngine, type Statement, type Value } from '../sqlite-engine.ts';
import { openSqliteStore } from '../sqlite-store.ts';
import { executionReads } from './executions.ts';
import { type Operations, prepareOperations } from './operations.ts';
import { requestListReads, SCANNED } from './request-list.ts';

// One thread serves everybody: nothing that one caller asks for may hold it for long, however much that caller has stored.

let database: Database;
let removals: Operations['removals'];

beforeEach(async () => {
  database = (await loadEngine()).open(':memory:');
  database.exec('PRAGMA foreign_keys = ON');
  migrate(database, 'path');
  ({ removals } = prepareOperations(database));
});

describe('removes some at a time, and none when none is left', () => {
  test('the turns of a session that have ended', () => {
    const key = { owner: 'ann', agentId: 'echo', sessionId: 's1' };
    fill(`
      INSERT INTO requests (owner, request_id, agent_id, session_id, envelope, accepted_at, priority, checksum)
      SELECT 'ann', 'r' || n, 'echo', 's1', '{}', n, 5, 0 FROM numbers`);
    database.exec(
      "INSERT INTO sessions (id, owner, agent_id, session_id, title, created_at, updated_at) VALUES (1, 'ann', 'echo', 's1', NULL, 1, 1)",
    );
    database.exec('INSERT INTO open_requests (request, started) VALUES (7, 1)');
    expect(parts(() => removals.deleteTurns(key))).toEqual([200, 200, 99, 0]);
    expect(removals.deleteSession(key)).toBe(true);
    expect(database.prepare('SELECT id, session_id FROM requests').all()).toEqual([{ id: 7, session_id: null }]);
  });

  test('sessions in which nothing is left', () => {
    fill(
      "INSERT INTO sessions (id, owner, agent_id, session_id, title, created_at, updated_at) SELECT n, 'ann', 'echo', 's' || n, NULL, n, n FROM numbers",
    );
    let from = 0;
    const next = () => {
      const window = removals.purgeSessions(500, from);
      from = window.next ?? from;
      return window.purged;
    };
    expect(parts(next)).toEqual([200, 200, 99, 0]);
  });

  test('old messages of threads', () => {
    fill(`
      INSERT INTO thread_messages SELECT 'ann', 't' || n % 7, n, 'echo', 'm' || n, 0, '{}', n, 0 FROM numbers`);
    expect(parts(() => removals.purgeThreads(500))).toEqual([200, 200, 99, 0]);
  });

  test('the messages of an agent in a thread', () => {
    fill(`
      INSERT INTO thread_messages SELECT 'ann', 't', n, CASE WHEN n = 500 THEN 'other' ELSE 'echo' END, 'm' || n, 0, '{}', n, 0
      FROM numbers`);
    const key = { owner: 'ann', agentId: 'echo', sessionId: 't' };
    expect(parts(() => removals.deleteThread(key))).toEqual([200, 200, 99, 0]);
  });

  test('memories that have expired', () => {
    fill("INSERT INTO memory_entries SELECT 's' || n % 7, 'k' || n, 'ann', '{}', 1, 1, n FROM numbers");
    expect(parts(() => removals.purgeMemory(499))).toEqual([200, 200, 99, 0]);
  });

  test('callbacks that ended long ago', () => {
    fill(`
      INSERT INTO deliveries
      SELECT n, 'd' || n, 'ann', 'r', 'm', 'https://x.example/', '{}', 1, NULL, 1, 'delivered', 1, 1, '[]', n, 0, NULL, 0
      FROM numbers`);
    expect(parts(() => removals.purgeDeliveries(500))).toEqual([200, 200, 99, 0]);
  });

  test('receivers that were gone long ago', () => {
    fill("INSERT INTO disabled_urls SELECT 'ann', 'https://x.example/' || n, n FROM numbers");
    expect(parts(() => removals.purgeDisabledUrls(500))).toEqual([200, 200, 99, 0]);
  });
});

test('a page of executions is found in the index, without looking at each that the caller ever ran', () => {
  const prepared: string[] = [];
  const watched: Database = {
    isTransaction: false,
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare: (sql) => {
      prepared.push(sql);
      return database.prepare(sql);
    },
  };
  executionReads(watched);
  const pages = prepared.filter((sql) => sql.includes('x.id AS "number"'));
  const plans = pages.map((sql) =>
    (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[])
      .map(({ detail }) => detail)
      .join('\n'),
  );
  expect(plans[0]).toMatch(/SEARCH executions USING COVERING INDEX/);
  expect(plans[0]).not.toMatch(/SEARCH x USING INDEX/);
  // Open ones are few, however many have ended.
  expect(plans[1]).toMatch(/open_executions/);
  expect(plans[1]).not.toMatch(/SEARCH x USING INDEX/);
  // One status has at most as many as a window.
  expect(plans[2]).toMatch(/owner=\? AND execution_id>\? AND execution_id<\?/);
});

test.each<[string, Partial<RequestQuery>]>([
  ['all of them', {}],
  ['those of one agent', { agentId: 'agent3' }],
  ['those of one session', { sessionId: 'unknown' }],
  ['those that ended in a rare way', { progress: ['refused'] }],
  ['those with a text', { text: 'nowhere' }],
  ['those of one protocol', { protocol: 'acp' }],
])("everybody's requests are listed from a limited number of rows, however many callers there are: %s", (_, query) => {
  const many = 20_000;
  fill(
    `INSERT INTO requests (id, owner, request_id, agent_id, session_id, envelope, accepted_at, priority, checksum)
     SELECT n, 'caller' || (n % 2000), 'r' || n, 'agent' || (n % 4), 's' || n % 7, '{}', n, 5, 0 FROM numbers`,
    many,
  );
  fill(
    `INSERT INTO ended_requests (request, owner, agent_id, ending, ended_at)
     SELECT n, 'caller' || (n % 2000), 'agent' || (n % 4), 'completed', n FROM numbers`,
    many,
  );
  let steps = 0;
  const counted = (sql: string): Statement => {
    const statement = database.prepare(sql);
    const all = (...values: Value[]) => {
      const rows = statement.all(...values);
      steps += rows.length;
      return rows;
    };
    return {
      run: (...values) => statement.run(...values),
      get: (...values) => {
        steps += 1;
        return statement.get(...values);
      },
      all,
      iterate: (...values) => all(...values).values(),
    };
  };
  const { listRequests } = requestListReads({
    isTransaction: false,
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare: counted,
  });
  listRequests({ limit: 50, ...query });
  // A row of the scan, and one look into its request.
  expect(steps).toBeLessThan(2 * SCANNED + 200);
  expect(steps).toBeGreaterThan(0);
});

test('long messages are looked into until their length is enough, and the next look begins there', () => {
  fill(
    `INSERT INTO requests (id, owner, request_id, agent_id, envelope, accepted_at, priority, checksum)
     SELECT n, 'ann', 'r' || n, 'echo', '{"params":"' || hex(zeroblob(400000)) || '"}', n, 5, 0 FROM numbers`,
    9,
  );
  fill("INSERT INTO ended_requests SELECT n, 'ann', 'echo', 'completed', n FROM numbers", 9);
  const { listRequests } = requestListReads(database);
  for (const owner of [undefined, 'ann']) {
    const found = listRequests({ owner, limit: 50, text: 'nowhere' });
    expect(found).toMatchObject({ rows: [], lookedUpTo: { owner: 'ann', requestId: 'r7', changedAt: 7 } });
  }
});

test('executions of one status are looked for some at a time, and others get their turn in between', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'short-turns-test-'));
  database = (await loadEngine()).open(join(folder, DATABASE));
  migrate(database, 'path');
  fill(
    `INSERT INTO executions (id, owner, execution_id, digest, request, accepted_at, checksum)
     SELECT n, 'ann', 'e' || n, '', '{}', n, 0 FROM numbers`,
    10_000,
  );
  fill(
    `INSERT INTO execution_ends (execution, status, result, events, ended_at, checksum)
     SELECT n, CASE WHEN n IN (3, 5000, 9000) THEN 'failed' ELSE 'success' END, '{}', '[]', n, 0 FROM numbers`,
    10_000,
  );
  database.close();
  const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {} });
  try {
    const order: string[] = [];
    const page = { before: 9_000, limit: 10, status: 'failed' };
    const listed = store.executions.list('ann', page).finally(() => order.push('the list'));
    await Promise.all([listed, store.stats().then(() => order.push('somebody else'))]);
    expect(order).toEqual(['somebody else', 'the list']);
    expect((await listed).map(({ number }) => number)).toEqual([5_000, 3]);
  } finally {
    await store[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Numbered from 1. */
function fill(insert: string, count = 500): void {
  const [into = '', select = ''] = insert.split(/(?=\bSELECT\b)/);
  database.exec(`
    ${into} WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count}) ${select}`);
}

function parts(remove: () => number): number[] {
  return Array.from({ length: 4 }, remove);
}
