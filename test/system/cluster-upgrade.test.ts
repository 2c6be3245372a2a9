import { afterAll, expect, inject, test } from 'vitest';
import { allFrames, call } from './call.ts';
import { ClusterLoad, loadConfig } from './cluster-load/cluster-load.ts';
import { ClusterSystem } from './cluster-system.ts';
import { CountingApi } from './counting-api.ts';
import { NextBuild } from './next-build.ts';
import { Receiver } from './receiver.ts';
import type { System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

// This build and the next one beside each other on one database, under the load of all protocols: an upgrade one node at a time, crashes of
// both in between, and the way back.

const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
const api = await CountingApi.start();
const next = new NextBuild();
const cluster = await ClusterSystem.start(2, loadConfig({ api, receiver, authority }));
const [one, two] = cluster.nodes as [System, System];
// Each is different, and none depends on chance.
let drawn = 0;
const random = () => {
  drawn += 1;
  return (drawn * 0.381_966) % 1;
};
const load = new ClusterLoad({ cluster, api, receiver, random });
const running = load.run(6);
running.catch(() => {});
afterAll(async () => {
  load.stop();
  await running.catch(() => {});
  await cluster[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
  next[Symbol.dispose]();
}, 120_000);

async function goOn(): Promise<void> {
  const before = load.ended;
  const enough = expect.poll(() => load.ended, { timeout: 120_000, interval: 20 }).toBeGreaterThanOrEqual(before + 15);
  await Promise.race([enough, running]);
}

async function versions(node: System): Promise<string[]> {
  const answer = await call(node.url, { path: '/admin/v1/nodes', key: one.adminKey });
  const { nodes } = (await answer.json()) as { nodes: { version: string; state: string }[] };
  return nodes.filter(({ state }) => state === 'live').map(({ version }) => version);
}

test('the next build migrates beside this one, and each reads what the other answers', async () => {
  await goOn();
  const [before] = await versions(two);
  await one.stop();
  one.code = next.code;
  await cluster.startNode(one);
  expect(await versions(two)).toEqual([before, NextBuild.version]);
  for (const [here, there] of [
    [one, two],
    [two, one],
  ] as const) {
    const id = `beside-${here === one}`;
    const params = { content: 'a b c d e f g h', pause_ms: 20 };
    const envelope = { request_id: id, method: 'chat.send', agent_ref: { id: 'load' }, params };
    const answering = cluster.stream(here, envelope).then(allFrames);
    await expect.poll(async () => (await cluster.resume(there, id, -1)).status).toBe(200);
    const read = await allFrames(await cluster.resume(there, id, -1));
    expect(read).toEqual(await answering);
    expect(read).toHaveLength(9);
  }
  await goOn();
}, 120_000);

test('each takes over the work of the other after a crash, and starts again beside it', async () => {
  for (const node of [one, two]) {
    await node.kill();
    await goOn();
    await cluster.startNode(node);
    await goOn();
  }
  expect(new Set(await versions(one)).size).toBe(2);
}, 240_000);

test('the last node follows, and one goes back', async () => {
  await two.stop();
  two.code = next.code;
  await cluster.startNode(two);
  await goOn();
  expect(await versions(one)).toEqual([NextBuild.version, NextBuild.version]);
  await one.stop();
  one.code = inject('servers').usual;
  await cluster.startNode(one);
  await goOn();
}, 120_000);

test('nothing was lost, has two ends or a gap', async () => {
  load.stop();
  await running;
  await load.check();
  expect(one.log + two.log).not.toContain('could not be');
}, 120_000);
