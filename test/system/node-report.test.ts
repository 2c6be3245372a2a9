import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { startPostgres } from '../../packages/core/test-support/postgres-server.ts';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

// What two servers on one database report about themselves and each other.

const postgres = await startPostgres();
const environment = {
  DRAGOMAN_VAULT_KEY: randomBytes(32).toString('hex'),
  DRAGOMAN_ALLOW_FSYNC_OFF: '1',
};
const config = {
  store: postgres.url('report'),
  default_agent: 'held',
  agents: { held: { ...moduleAgent('held'), max_parallel: 1 } },
};
const one = System.create({ config: { ...config, cluster: { name: 'one' } } });
const two = System.create({ config: { ...config, cluster: { name: 'two' }, log: { level: 'debug' } } });
const alone = System.create({ needsFolder: 'it is a server without other nodes' });
afterAll(async () => {
  for (const system of [one, two, alone]) await system[Symbol.asyncDispose]();
  await postgres.stop();
});
await one.start(environment);
await two.start({ ...environment, DRAGOMAN_ADMIN_KEY: one.adminKey });

const admin = async (system: System, path: string) => (await call(system.url, { path, key: one.adminKey })).json();

test('each node lists all, with what they hold and what differs', async () => {
  expect(await admin(two, '/admin/v1/nodes')).toMatchObject({
    nodes: [
      { node: 1, name: 'one', state: 'live', is_self: false, holds: { requests: 0 } },
      { node: 2, name: 'two', state: 'live', is_self: true },
    ],
    database: { synchronous_commit: 'on', synchronous_standby_names: '', standbys: 0 },
    warnings: [{ code: 'config_differs' }],
  });
});

test('an open request is held by the node that answers it: in the report, the metrics and the explanation', async () => {
  const { api_key: key } = await one.caller('ann');
  const opened = await call(one.url, {
    method: 'POST',
    path: '/e2a',
    key,
    accept: 'application/x-ndjson',
    json: { request_id: 'open', is_stream: true, params: {} },
  });
  for await (const _ of opened.frames()) break;
  expect(await admin(two, '/admin/v1/nodes')).toMatchObject({
    nodes: [{ holds: { requests: 1 } }, { holds: { requests: 0 } }],
  });
  expect(await admin(two, '/admin/v1/requests/open')).toMatchObject({ state: 'started', node: 'one (1)' });
  const metrics = async (system: System) => (await call(system.url, { path: '/metrics', key: one.adminKey })).text();
  expect(await metrics(one)).toContain('dragoman_node_holds{kind="requests"} 1');
  expect(await metrics(two)).toContain('dragoman_node_holds{kind="requests"} 0');
  expect(await metrics(two)).toContain('dragoman_nodes_live 2');
  await call(one.url, { method: 'POST', path: '/e2a/requests/open/cancel', key });
  await expect.poll(() => admin(two, '/admin/v1/requests/open')).toMatchObject({ node: null });
});

test('the doctor lists the nodes, and what to fix', async () => {
  const words = [one.command, 'doctor', '--json', '--url', one.url, '--data', alone.data];
  const env = { PATH: process.env['PATH'] ?? '', DRAGOMAN_ADMIN_KEY: one.adminKey };
  const out = await new Promise<string>((resolve) => {
    execFile(process.execPath, words, { env, cwd: alone.folder }, (_, text) => resolve(text));
  });
  const { checks } = JSON.parse(out) as { checks: { check: string; ok: boolean; message: string; fix?: string }[] };
  const found = (name: string) => checks.find(({ check }) => check === name);
  expect(found('nodes')).toMatchObject({ ok: true, message: expect.stringContaining('2 live: one (1') });
  expect(found('database')).toMatchObject({ message: expect.stringContaining('synchronous standbys: none') });
  expect(found('config differs')).toMatchObject({ ok: false, fix: 'Give all of them the same file.' });
});

test('a node that has left is shown as such', async () => {
  await one.stop();
  expect(await admin(two, '/admin/v1/nodes')).toMatchObject({
    nodes: [{ node: 1, state: 'left' }, { state: 'live' }],
    warnings: [],
  });
});

test('a server that owns its store has no nodes', async () => {
  await alone.start();
  const answer = await call(alone.url, { path: '/admin/v1/nodes', key: alone.adminKey });
  expect(await answer.json()).toEqual({ nodes: [], database: null, warnings: [] });
});
