import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allFrames, call } from './call.ts';
import { ClusterLoad, loadConfig } from './cluster-load/cluster-load.ts';
import { ClusterSystem } from './cluster-system.ts';
import { CountingApi } from './counting-api.ts';
import { Receiver } from './receiver.ts';
import { moduleAgent, type System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

// Three real servers on one PostgreSQL under the load of all protocols. Nodes are killed, PostgreSQL is killed, a node stands still for longer
// than its time to live, and the database is away for three of them. Nothing is lost, answered twice or done twice.

const nodeKills = Number(process.env['DRAGOMAN_NODE_KILLS'] ?? 60);
const postgresKills = Number(process.env['DRAGOMAN_POSTGRES_KILLS'] ?? 15);
const seed = Number(process.env['DRAGOMAN_SEED'] ?? Date.now() % 1_000_000);

const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
const api = await CountingApi.start();
let cluster: ClusterSystem;
let load: ClusterLoad;
let running: Promise<void>;

beforeAll(async () => {
  const config = loadConfig({ api, receiver, authority });
  cluster = await ClusterSystem.start(3, { ...config, agents: { ...config.agents, held: moduleAgent('held') } });
  load = new ClusterLoad({ cluster, api, receiver, random: randomFrom(seed) });
  running = load.run(12);
  // A failure is reported when it is awaited.
  running.catch(() => {});
}, 120_000);

afterAll(async () => {
  load?.stop();
  await running?.catch(() => {});
  await cluster?.[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
}, 120_000);

/** Until so much more has come to its end; rejects when the load finds something wrong. */
async function goOn(more: number): Promise<void> {
  const before = load.ended;
  const enough = expect
    .poll(() => load.ended, { timeout: 120_000, interval: 20 })
    .toBeGreaterThanOrEqual(before + more);
  await Promise.race([enough, running]);
}

const node = (number: number) => cluster.nodes[number % cluster.nodes.length] as System;

describe(`under load (DRAGOMAN_SEED=${seed})`, () => {
  test(`${nodeKills} nodes are killed and replaced`, async () => {
    for (let kill = 0; kill < nodeKills; kill += 1) {
      await goOn(8);
      await node(kill).kill();
      // Others take over what it held, and then there is a new one in its place, or the new one takes over itself.
      if (kill % 2 === 0) await goOn(8);
      await cluster.startNode(node(kill));
    }
    await goOn(15);
  }, 3_600_000);

  test(`PostgreSQL is killed ${postgresKills} times`, async () => {
    for (let kill = 0; kill < postgresKills; kill += 1) {
      await goOn(8);
      await cluster.postgres.kill();
      await cluster.postgres.start();
    }
    await goOn(15);
  }, 3_600_000);

  test('a node that stands still for longer than its time to live loses what it held, and joins again', async () => {
    const requestId = 'stands-still';
    const answer = await cluster.stream(node(0), {
      request_id: requestId,
      agent_ref: { id: 'held' },
      method: 'chat.send',
      params: {},
    });
    const frames = answer.frames();
    expect(JSON.parse((await frames.next()).value ?? '{}')).toMatchObject({ sequence: 0 });
    node(0).signal('SIGSTOP');
    try {
      const other = await allFrames(await cluster.resume(node(1), requestId, -1));
      expect(JSON.parse(other.at(-1) ?? '{}')).toMatchObject({ sequence: 1, body: { code: 'E2A.INTERRUPTED' } });
      node(0).signal('SIGCONT');
      // The reader that stayed with it is given the other node's end.
      expect((await frames.next()).value).toBe(other[1]);
    } finally {
      node(0).signal('SIGCONT');
    }
    await expect.poll(() => node(0).log).toContain('joined again');
    await expect.poll(async () => (await call(node(0).url, { path: '/ready' })).status).toBe(200);
    await goOn(15);
  }, 120_000);

  test('while the database is away for three times the time to live nodes take nothing new, and none is declared dead after', async () => {
    const deaths = () => cluster.nodes.flatMap(({ log }) => log.match(/nodes were declared dead/g) ?? []).length;
    const before = deaths();
    await cluster.postgres.kill();
    for (const one of cluster.nodes) {
      await expect.poll(async () => (await call(one.url, { path: '/ready' })).status).toBe(503);
    }
    await new Promise((resolve) => setTimeout(resolve, 3 * cluster.ttlMs));
    await cluster.postgres.start();
    for (const one of cluster.nodes) {
      await expect.poll(async () => (await call(one.url, { path: '/ready' })).status).toBe(200);
    }
    await goOn(30);
    // As long as it takes to be declared dead.
    await new Promise((resolve) => setTimeout(resolve, 2 * cluster.ttlMs));
    expect(deaths()).toBe(before);
  }, 180_000);
});

test('what one node began is read through it until it is killed, and the rest through another, byte for byte', async () => {
  const content = Array.from({ length: 200 }, (_, index) => `w${index}`).join(' ');
  const envelope = {
    request_id: 'moved',
    method: 'chat.send',
    agent_ref: { id: 'load' },
    params: { content, pause_ms: 10 },
  };
  const read: string[] = [];
  for await (const frame of (await cluster.stream(node(1), envelope)).frames()) {
    read.push(frame);
    if (read.length === 20) break;
  }
  await node(1).kill();
  read.push(...(await allFrames(await cluster.resume(node(2), 'moved', read.length - 1))));
  expect(JSON.parse(read.at(-1) ?? '{}')).toMatchObject({ is_final: true });
  expect(read.map((frame) => JSON.parse(frame).sequence)).toEqual(read.map((_, index) => index));
  await cluster.startNode(node(1));
  for (const one of cluster.nodes) expect(await allFrames(await cluster.resume(one, 'moved', -1))).toEqual(read);
}, 120_000);

test('nothing is lost, has two ends or a gap, and no effect happens twice', async () => {
  load.stop();
  await running;
  await load.check();
  process.stdout.write(`${nodeKills} nodes and ${postgresKills} databases killed: ${JSON.stringify(load.fates)}\n`);
  for (const [client, { complete, interrupted }] of Object.entries(load.fates)) {
    expect(complete, client).toBeGreaterThan(interrupted);
  }
}, 1_200_000);

/** The same numbers for the same seed. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
