import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startQuickPostgres } from '../../test-support/postgres-server.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { dial } from '../store/postgres/connection.ts';
import { connectPostgresStore } from '../store/postgres/postgres-store.ts';
import { readPostgresUrl } from '../store/postgres/postgres-url.ts';
import { AgentLines } from './agent-lines.ts';
import { Cluster } from './cluster.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startQuickPostgres();
});

afterAll(() => server?.stop());

test('the agents of a node that joins again are found again, even if another has cleaned up after it', async () => {
  const url = server.url('lines');
  await using one = await connectPostgresStore({ url, name: 'one' });
  await using two = await connectPostgresStore({ url, name: 'two' });
  const [clock, log] = [new TestClock(), new SilentLog()];
  const cluster = new Cluster({ store: one.cluster, clock, log, ttlMs: 60_000, graceMs: 30_000, beatMs: 1000 });
  const none = { runs: { adopt: async () => {} }, remote: { fetchAuth: async () => {} } };
  const lines = new AgentLines({ store: one.cluster, ...none, cluster, log });
  for (const agentId of ['away', 'left']) lines.changed(agentId, true);
  lines.changed('left', false);
  const before = one.cluster.node;
  await expect.poll(() => two.cluster.lineOf('away')).toBe(before);

  const connection = await dial(readPostgresUrl(url), () => {});
  await connection.query("UPDATE nodes SET state = 'dead' WHERE id = $1", [before]);
  await connection.close();
  // As one that joins does.
  await two.cluster.join();
  await cluster.beat();
  expect(one.cluster.node).not.toBe(before);
  await expect.poll(() => two.cluster.lineOf('away')).toBe(one.cluster.node);
  expect(await two.cluster.lineOf('left')).toBeUndefined();
});
