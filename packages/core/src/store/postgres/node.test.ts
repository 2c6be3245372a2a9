import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startQuickPostgres } from '../../../test-support/postgres-server.ts';
import { frame, requestRow } from '../requests.contract.ts';
import type { Held, Store } from '../store.ts';
import { dial } from './connection.ts';
import { LOCK } from './node.ts';
import { connectPostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
import { readPostgresUrl } from './postgres-url.ts';

let server: PostgresServer;
let schemas = 0;

beforeAll(async () => {
  server = await startQuickPostgres();
});

afterAll(() => server?.stop());

async function twoNodes(options: Partial<PostgresStoreOptions> = {}) {
  schemas += 1;
  const url = server.url(`nodes_${schemas}`);
  const open = (name: string, place?: string) => connectPostgresStore({ url, name, place, ...options });
  const stores = { one: await open('one'), two: await open('two'), open };
  return {
    ...stores,
    async [Symbol.asyncDispose]() {
      await stores.one[Symbol.asyncDispose]();
      await stores.two[Symbol.asyncDispose]();
    },
  };
}

const WITHIN = 60_000;
/** Long enough that no node is dead unless its beat was set back. */
const LIMITS = { ttlMs: 60_000, graceMs: 30_000 };

/** What an administrator of the database could do. */
async function administer(text: string, ...values: unknown[]): Promise<void> {
  const connection = await dial(readPostgresUrl(server.url(`nodes_${schemas}`)), () => {});
  await connection.query(text, values);
  await connection.close();
}

/** As if it had been silent for so long. */
function silence(node: number, milliseconds: number): Promise<void> {
  return administer(
    "UPDATE nodes SET beat_at = clock_timestamp() - $2::double precision * interval '1 millisecond' WHERE id = $1",
    node,
    milliseconds,
  );
}

/** As if its process had ended. */
function disconnect(node: number): Promise<void> {
  return administer(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'
       AND objid::bigint = hashtext(current_schema || ' ' || $1::bigint)::bigint & 4294967295`,
    node,
  );
}

async function open(store: Store, requestId: string): Promise<Held> {
  const accepted = await store.requests.accept(requestRow({ requestId }));
  return (accepted as { held: Held }).held;
}

test('two nodes see each other, with what they hold', async () => {
  await using nodes = await twoNodes({ configDigest: 'abc', peerUrl: 'http://10.0.0.7:7420' });
  await open(nodes.one, 'first');
  await nodes.two.cluster.beat(WITHIN);
  await nodes.two.cluster.leave();
  const rows = await nodes.one.cluster.nodes();
  expect(rows).toMatchObject([
    { name: 'one', state: 'live', isSelf: true, holds: { requests: 1, executions: 0 }, skewMs: null },
    { name: 'two', state: 'leaving', isSelf: false, configDigest: 'abc', peerUrl: 'http://10.0.0.7:7420' },
  ]);
  expect(rows[1]?.skewMs).toEqual(expect.any(Number));
});

test('what a node that is alive holds is not claimed by another', async () => {
  await using nodes = await twoNodes();
  const held = await open(nodes.one, 'first');
  expect(await nodes.two.cluster.hasLeftovers()).toBe(false);
  expect(await nodes.two.requests.claim(10)).toEqual([]);
  await nodes.one.requests.append(held, [frame(0)]);
});

test('a connection whose row is gone is replaced before it commits', async () => {
  await using nodes = await twoNodes();
  await open(nodes.one, 'first');
  await administer('DELETE FROM lanes');
  const held = await open(nodes.one, 'second');
  await nodes.one.requests.append(held, [frame(0)]);
  const connection = await dial(readPostgresUrl(server.url(`nodes_${schemas}`)), () => {});
  const { rows } = await connection.query('SELECT last FROM lanes WHERE last > 0');
  await connection.close();
  expect(rows).not.toEqual([]);
});

test('what a node leaves is claimed by one of the others, once', async () => {
  await using nodes = await twoNodes();
  await using three = await nodes.open('three');
  for (let count = 0; count < 50; count += 1) await open(nodes.one, `r${count}`);
  await nodes.one[Symbol.asyncDispose]();
  expect(await three.cluster.hasLeftovers()).toBe(true);
  const claims = await Promise.all([nodes.two.requests.claim(50), three.requests.claim(50)]);
  expect(new Set(claims.flat().map(({ row }) => row.requestId)).size).toBe(50);
  expect(claims.flat()).toHaveLength(50);
  expect(await three.cluster.hasLeftovers()).toBe(false);
});

test('a request that waits for an agent is claimed by the node to which the agent is connected', async () => {
  await using nodes = await twoNodes();
  /** A third node records it, and is gone. */
  const leave = async (requestId: string) => {
    await using three = await nodes.open('three');
    await open(three, requestId);
  };
  await leave('waits');
  await nodes.two.cluster.addLine('echo');
  expect(await nodes.one.requests.claim(10)).toEqual([]);
  expect(await nodes.two.requests.claim(10)).toMatchObject([{ row: { requestId: 'waits' } }]);

  // Its own connection counts first, and that of a node that leaves not at all.
  await nodes.one.cluster.addLine('echo');
  await leave('waits too');
  expect(await nodes.one.requests.claim(10)).toMatchObject([{ row: { requestId: 'waits too' } }]);
  await nodes.one.cluster.removeLine('echo');
  await nodes.two.cluster.leave();
  await leave('waits on');
  expect(await nodes.one.requests.claim(10)).toMatchObject([{ row: { requestId: 'waits on' } }]);
});

test('a silent node is dead after the time to live, even if its connection is open', async () => {
  await using nodes = await twoNodes();
  const held = await open(nodes.one, 'first');
  await silence(nodes.one.cluster.node, 59_000);
  expect(await nodes.two.cluster.buryDead(LIMITS)).toEqual([]);
  await silence(nodes.one.cluster.node, 61_000);
  expect(await nodes.two.cluster.buryDead(LIMITS)).toEqual([nodes.one.cluster.node]);
  const [claimed] = await nodes.two.requests.claim(10);
  expect(claimed?.held.epoch).toBe(held.epoch + 1);
  // The fence: it may still believe that it holds the request.
  await expect(nodes.one.requests.append(held, [frame(0)])).rejects.toMatchObject({ code: 'not_held' });
  expect(await nodes.one.requests.start(held)).toBe(false);
  await nodes.two.requests.append(claimed?.held as Held, [frame(0)]);
});

test('one whose connection is gone is dead after the grace', async () => {
  await using nodes = await twoNodes();
  const { node } = nodes.one.cluster;
  await disconnect(node);
  await silence(node, 29_000);
  expect(await nodes.two.cluster.buryDead(LIMITS)).toEqual([]);
  await silence(node, 31_000);
  await expect.poll(() => nodes.two.cluster.buryDead(LIMITS)).toEqual([node]);
});

test('a beat returns how long the node was silent, and one that was silent declares no other dead', async () => {
  await using nodes = await twoNodes();
  for (const { cluster } of [nodes.one, nodes.two]) {
    await cluster.beat(WITHIN);
    await silence(cluster.node, 61_000);
  }
  expect(await nodes.two.cluster.buryDead(LIMITS)).toEqual([]);
  expect(await nodes.two.cluster.beat(WITHIN)).toBeGreaterThan(0);
  expect(await nodes.two.cluster.buryDead(LIMITS)).toEqual([nodes.one.cluster.node]);
});

test('a node that could not lock its number when it reconnected locks it with a later beat', async () => {
  await using nodes = await twoNodes();
  const { node } = nodes.one.cluster;
  const others = await dial(readPostgresUrl(server.url(`nodes_${schemas}`)), () => {});
  // As its lost connection does, until PostgreSQL notices.
  const take = "SELECT pg_try_advisory_lock($1, hashtext(current_schema || ' ' || $2::bigint)) AS taken";
  await disconnect(node);
  await expect.poll(async () => (await others.query(take, [LOCK, node])).rows).toEqual([{ taken: true }]);
  await expect.poll(() => nodes.one.cluster.beat(WITHIN).catch(() => undefined)).toBeDefined();
  await others.script('SELECT pg_advisory_unlock_all()');
  await nodes.one.cluster.beat(WITHIN);
  expect((await others.query(take, [LOCK, node])).rows).toEqual([{ taken: false }]);
  await others.close();
});

test('a node on the data folder of a live one is warned, but not one on a folder that is free again', async () => {
  await using nodes = await twoNodes();
  const url = server.url(`nodes_${schemas}`);
  const warnings: string[] = [];
  const silent = () => {};
  const log = {
    debug: silent,
    info: silent,
    warn: (_: object, text: string) => void warnings.push(text),
    error: silent,
  };
  const first = await nodes.open('three', 'here');
  const second = await connectPostgresStore({ url, name: 'four', place: 'here', log });
  expect(warnings).toContainEqual(`node ${first.cluster.node} runs with the same data folder: give each node its own`);
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  warnings.length = 0;
  await using _ = await connectPostgresStore({ url, name: 'five', place: 'here', log });
  expect(warnings.filter((text) => text.includes('data folder'))).toEqual([]);
});

test('an answer to a call goes to the node that asked', async () => {
  await using nodes = await twoNodes();
  const [one, two] = [nodes.one.cluster, nodes.two.cluster];
  const id = await one.addCall(two.node, 'question');
  expect(await two.takeCalls()).toEqual([{ id, caller: one.node, text: 'question' }]);
  await two.answerCall(id, 'answer');
  expect(await two.takeAnswers([id])).toEqual([]);
  expect(await one.takeAnswers([id])).toEqual([{ id, text: 'answer' }]);
});

test('calls at once over a lost connection open one in its place', async () => {
  await using nodes = await twoNodes();
  const { cluster } = nodes.one;
  await disconnect(cluster.node);
  const all = () => Promise.all([1, 2, 3, 4, 5].map(() => cluster.hasLeftovers()));
  await expect.poll(() => all().catch(() => 'lost')).toEqual([false, false, false, false, false]);
  const connection = await dial(readPostgresUrl(server.url(`nodes_${schemas}`)), () => {});
  const listening = `SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ShareLock'`;
  const { rows } = await connection.query(listening);
  await connection.close();
  // One of each node.
  expect(rows).toEqual([{ count: 2 }]);
});

test('a node that was declared dead learns it from its beat, and joins again under another number', async () => {
  await using nodes = await twoNodes();
  const { node } = nodes.one.cluster;
  const held = await open(nodes.one, 'first');
  await silence(node, 61_000);
  await nodes.two.cluster.buryDead(LIMITS);
  expect(await nodes.one.cluster.beat(WITHIN)).toBeUndefined();
  await nodes.one.cluster.join();
  expect(nodes.one.cluster.node).toBeGreaterThan(node);
  expect(await nodes.one.cluster.beat(WITHIN)).toBe(0);
  // No node has claimed it yet, and still it is not this node's.
  await expect(nodes.one.requests.append(held, [frame(0)])).rejects.toMatchObject({ code: 'not_held' });
  await open(nodes.one, 'second');
  expect(await nodes.one.requests.claim(10)).toHaveLength(1);
});

test('a node that starts where one has crashed takes its work over at once', async () => {
  await using nodes = await twoNodes();
  const first = await nodes.open('three', 'here');
  await open(first, 'left');
  await disconnect(first.cluster.node);
  await using second = await nodes.open('three', 'here');
  expect(await second.requests.claim(10)).toHaveLength(1);
  await first[Symbol.asyncDispose]();
});

test('one that runs is not taken for one that has crashed', async () => {
  await using nodes = await twoNodes();
  await using first = await nodes.open('three', 'here');
  await open(first, 'kept');
  await using second = await nodes.open('three', 'here');
  expect(await second.requests.claim(10)).toEqual([]);
});
