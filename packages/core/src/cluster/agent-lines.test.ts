import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startQuickPostgres } from '../../test-support/postgres-server.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { ClusterStore } from '../store/cluster.ts';
import { dial } from '../store/postgres/connection.ts';
import { connectPostgresStore } from '../store/postgres/postgres-store.ts';
import { readPostgresUrl } from '../store/postgres/postgres-url.ts';
import { requestRow } from '../store/requests.contract.ts';
import type { Claimed, RequestRow } from '../store/store.ts';
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

test('requests that waited elsewhere for an agent fetch their credentials together, and are answered oldest first', async () => {
  const url = server.url('waiting');
  await using one = await connectPostgresStore({ url, name: 'one' });
  await using two = await connectPostgresStore({ url, name: 'two' });
  const [clock, log] = [new TestClock(), new SilentLog()];
  const cluster = new Cluster({ store: one.cluster, clock, log, ttlMs: 60_000, graceMs: 30_000, beatMs: 1000 });
  const asked: string[] = [];
  const adopted: string[] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const runs = { adopt: async ({ row }: Claimed<RequestRow>) => void adopted.push(row.requestId) };
  const fetchAuth = (_: number, { row }: Claimed<RequestRow>) => {
    asked.push(row.requestId);
    return answered;
  };
  const lines = new AgentLines({ store: one.cluster, runs, remote: { fetchAuth }, cluster, log });
  for (const [number, requestId] of ['a', 'b', 'c'].entries()) {
    await two.requests.accept(requestRow({ requestId, agentId: 'away', acceptedAt: number }));
  }
  lines.changed('away', true);
  await expect.poll(() => asked).toEqual(['a', 'b', 'c']);
  expect(adopted).toEqual([]);
  answer();
  await expect.poll(() => adopted).toEqual(['a', 'b', 'c']);
});

test('a connection that comes or ends while the database is away is recorded with a later beat', async () => {
  const [clock, log] = [new TestClock(), new SilentLog()];
  const recorded: string[] = [];
  let isAway = true;
  const record = async (change: string) => {
    if (isAway) throw new Error('the database is away');
    recorded.push(change);
  };
  const store = {
    addLine: (agentId: string) => record(`${agentId} is here`),
    removeLine: (agentId: string) => record(`${agentId} is gone`),
    takeWaiting: async () => [],
  } as unknown as ClusterStore;
  const cluster = new Cluster({ store, clock, log, ttlMs: 60_000, graceMs: 30_000, beatMs: 1000 });
  const none = { runs: { adopt: async () => {} }, remote: { fetchAuth: async () => {} } };
  const lines = new AgentLines({ store, ...none, cluster, log });
  lines.changed('came', true);
  lines.changed('went', true);
  lines.changed('went', false);
  await expect.poll(() => log.lines).toHaveLength(3);
  isAway = false;
  for (let beats = 0; beats < 2; beats += 1) await lines.beat();
  await expect.poll(() => recorded).toEqual(['came is here', 'went is gone']);
});
