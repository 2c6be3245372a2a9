import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../packages/core/test-support/postgres-server.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CARD } from './a2a-peer.ts';
import { call } from './call.ts';
import { CountingApi } from './counting-api.ts';
import { SocketClient } from './socket-client.ts';
import { agentModule, moduleAgent, System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

// Two servers on one database: what administration changes on one of them, the other takes over with its next beat.

let postgres: PostgresServer;
let api: CountingApi;
let one: System;
let other: System;
let environment: Record<string, string>;
const ALL = { agents: ['*'], operations: ['*'], apis: ['*'], credentials: ['*'], workflows: ['*'], tools: ['*'] };

beforeAll(async () => {
  postgres = await startPostgres();
  api = await CountingApi.start();
  const config = {
    store: postgres.url('shared'),
    agents: { echo: moduleAgent('echo') },
    gate: { allow: [api.host] },
    cluster: { beat_ms: 200 },
  };
  [one, other] = [System.create({ config }), System.create({ config })];
  environment = {
    DRAGOMAN_VAULT_KEY: randomBytes(32).toString('hex'),
    DRAGOMAN_VAULT_KEY_NEXT: randomBytes(32).toString('hex'),
    DRAGOMAN_ADMIN_KEY: one.adminKey,
    DRAGOMAN_ALLOW_FSYNC_OFF: '1',
  };
  // At once: the first start of both is the first start of the database.
  await Promise.all([one.start(environment), other.start(environment)]);
});

afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await api?.[Symbol.asyncDispose]();
  await postgres?.stop();
});

/** Ends a server, and starts it again with a clock that is set so far ahead. */
async function startAhead(system: System, milliseconds: number): Promise<boolean> {
  const file = join(system.folder, 'clock');
  writeFileSync(file, String(milliseconds));
  await system.stop();
  return system.begin({ ...environment, DRAGOMAN_TEST_CLOCK: file });
}

async function ask(system: System, method: string, path: string, { key = one.adminKey, json }: Request = {}) {
  const answer = await call(system.url, { method, path, key, ...(json !== undefined && { json }) });
  return { status: answer.status, json: (await answer.json()) as JsonObject };
}

interface Request {
  readonly key?: string;
  readonly json?: JsonObject;
}

const statusOf = async (...args: Parameters<typeof ask>) => (await ask(...args)).status;
const eventually = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 30_000 });

const messageTo = (agent: string, content: string) => ({
  request_id: randomBytes(8).toString('hex'),
  method: 'chat.send',
  params: { content },
  agent_ref: { id: agent },
});

/** What an agent answers through a server, or the code of the error. */
async function answerOf(system: System, key: string, agent: string): Promise<unknown> {
  const { json } = await ask(system, 'POST', '/e2a', { key, json: messageTo(agent, 'hello') });
  const body = json['body'] as JsonObject | undefined;
  return (body?.['result'] as JsonObject | undefined)?.['echoed'] ?? body?.['code'] ?? json['code'];
}

test('both signed with the same keys, which are in the database and in no folder', async () => {
  const cards = await Promise.all(
    [one, other].map(async (system) => {
      const { json } = await ask(system, 'GET', '/.well-known/agent-card.json');
      // Signed over the address of each.
      return JSON.stringify({ ...json, signatures: [] }).replaceAll(system.host, 'HOST');
    }),
  );
  expect(cards[0]).toBe(cards[1]);
  expect(cards[0]).toContain('public_key_fingerprint');
  for (const system of [one, other])
    expect(readdirSync(system.data).filter((name) => /pem|key|stored/.test(name))).toEqual([]);
});

test('an agent, its key and its driver are added, changed and removed on both', async () => {
  const made = await ask(one, 'POST', '/admin/v1/agents', {
    json: { agent_id: 'mobile', permissions: ALL, driver: 'module', module: agentModule('echo') },
  });
  expect(made.status).toBe(201);
  const key = String(made.json['api_key']);
  await eventually(() => answerOf(other, key, 'mobile')).toBe('hello');
  await ask(one, 'POST', '/admin/v1/agents', {
    json: { agent_id: 'mobile', permissions: ALL, driver: 'module', module: agentModule('parrot') },
  });
  await eventually(() => answerOf(other, key, 'mobile')).not.toBe('hello');
  // Without a driver it is a caller alone.
  await ask(one, 'POST', '/admin/v1/agents', { json: { agent_id: 'mobile', permissions: ALL } });
  await eventually(() => answerOf(other, key, 'mobile')).toBe('no_route');
  expect(await answerOf(other, key, 'echo')).toBe('hello');
  await ask(one, 'POST', '/admin/v1/agents', { json: { agent_id: 'mobile', permissions: {} } });
  await eventually(() => answerOf(other, key, 'echo')).toBe('forbidden');
  expect(await statusOf(one, 'DELETE', '/admin/v1/agents/mobile')).toBe(200);
  await eventually(() => statusOf(other, 'POST', '/e2a', { key, json: messageTo('echo', 'x') })).toBe(401);
});

test('an agent that is made on both at once is made once', async () => {
  for (let number = 0; number < 5; number += 1) {
    const json = { agent_id: `twin-${number}`, permissions: ALL };
    const both = await Promise.all([one, other].map((system) => ask(system, 'POST', '/admin/v1/agents', { json })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
    const { json: keys } = await ask(one, 'GET', '/admin/v1/keys');
    expect((keys['keys'] as JsonObject[]).filter((key) => key['agent_id'] === json.agent_id)).toHaveLength(1);
  }
});

test('a key that one server revokes ends what is open on the other', async () => {
  const { api_key: key, key_id: id } = await one.caller('socket-agent', { permissions: ALL });
  await eventually(() => answerOf(other, key, 'echo')).toBe('hello');
  const socket = await SocketClient.open(other.url, key);
  expect(await statusOf(one, 'DELETE', `/admin/v1/keys/${id}`)).toBe(200);
  expect(await socket.closed).toBeGreaterThan(1000);
  expect(await statusOf(other, 'POST', '/e2a', { key, json: messageTo('echo', 'x') })).toBe(401);
});

test('an API, a credential and a stored workflow of one server are used by the other', async () => {
  const { api_key: key } = await one.caller('worker-agent', { permissions: ALL });
  const description = 'test';
  await ask(one, 'PUT', '/admin/v1/apis/shop', {
    json: { base_url: api.url, description, endpoints: [{ method: 'GET', path: '/users', description }] },
  });
  await ask(one, 'PUT', '/admin/v1/credentials/token', {
    json: { type: 'bearer-token', value: 'sk-the-first-secret', hosts: [api.host] },
  });
  await ask(other, 'PUT', '/admin/v1/credentials/second', {
    json: { type: 'bearer-token', value: 'sk-of-the-other-server', hosts: [api.host] },
  });
  const call = {
    ApiCall: {
      method: 'GET',
      url: `${api.url}/users`,
      headers: { Authorization: { credentialRef: { id: 'token' } } },
      outputPath: '/workflow/users',
    },
  };
  await ask(one, 'PUT', '/admin/v1/workflows/users', { json: { workflow: workflowOf({ users: call }), description } });
  for (const system of [one, other]) {
    await eventually(async () => (await ask(system, 'GET', '/admin/v1/credentials')).json).toMatchObject({
      credentials: [{ id: 'second' }, { id: 'token' }],
    });
    await eventually(async () => (await ask(system, 'GET', '/api/v1/workflows', { key })).json).toMatchObject({
      workflows: [{ name: 'users' }],
    });
    await eventually(async () => JSON.stringify(await ask(system, 'GET', '/api/v1/capabilities', { key }))).toContain(
      '"shop"',
    );
  }
  await ask(one, 'DELETE', '/admin/v1/apis/shop');
  await ask(one, 'DELETE', '/admin/v1/workflows/users');
  await ask(one, 'DELETE', '/admin/v1/credentials/token');
  await eventually(async () => JSON.stringify(await ask(other, 'GET', '/api/v1/capabilities', { key }))).not.toContain(
    '"shop"',
  );
  await eventually(async () => (await ask(other, 'GET', '/api/v1/workflows', { key })).json).toMatchObject({
    workflows: [],
  });
  await eventually(async () => (await ask(other, 'GET', '/admin/v1/credentials')).json).toMatchObject({
    credentials: [{ id: 'second' }],
  });
});

test('a new vault key that one server changes to is followed by the other, for old credentials and new ones', async () => {
  const put = (system: System, id: string) =>
    ask(system, 'PUT', `/admin/v1/credentials/${id}`, {
      json: { type: 'bearer-token', value: `sk-of-${id}-and-long`, hosts: [api.host] },
    });
  await put(one, 'before');
  expect(await statusOf(one, 'POST', '/admin/v1/vault/rotate')).toBe(200);
  expect((await put(other, 'after')).status).toBe(201);
  for (const system of [one, other]) {
    const listed = async () => (await ask(system, 'GET', '/admin/v1/credentials')).json['credentials'] as JsonObject[];
    await eventually(async () => (await listed()).map(({ id, damaged = false }) => [id, damaged])).toEqual(
      expect.arrayContaining([
        ['after', false],
        ['before', false],
      ]),
    );
  }
});

test('what an agent stores in a file is read through the other server', async () => {
  const { api_key: key } = await one.caller('storing-agent', { permissions: ALL });
  const steps = workflowOf({
    now: { GetCurrentDateTime: { outputPath: '/workflow/now' } },
    keep: { StoreData: { inputPath: '/workflow/now', storage: 'file', key: 'when' } },
  });
  const stored = await ask(one, 'POST', '/api/v1/workflows/execute', { key, json: { workflow: steps } });
  expect(stored.json).toMatchObject({ status: 'success' });
  await eventually(() => statusOf(other, 'GET', '/api/v1/storage/when', { key })).toBe(200);
});

test('an agent that registers at one server is found at the other, and gone there when it leaves', async () => {
  const { api_key: key } = await one.caller('weather-agent', { permissions: ALL });
  await eventually(() => answerOf(other, key, 'echo')).toBe('hello');
  const card = { ...CARD, agent_id: 'weather-agent', capabilities: ['weather_report'] };
  const endpoint = 'https://weather.example.com/a2a';
  expect(await statusOf(one, 'POST', '/agents/register', { key, json: { agent_card: card, endpoint } })).toBe(201);
  await eventually(() => statusOf(other, 'GET', '/agents/weather-agent', { key })).toBe(200);
  await ask(one, 'DELETE', '/agents/weather-agent', { key });
  await eventually(() => statusOf(other, 'GET', '/agents/weather-agent', { key })).toBe(404);
});

test('a server whose clock is wrong uses that of the database with a warning, or is refused', async () => {
  expect(await startAhead(other, 20_000)).toBe(true);
  expect(other.log).toContain('20 s ahead of that of the database');
  const { json } = await ask(other, 'POST', '/admin/v1/keys', { json: { role: 'admin' } });
  expect(Math.abs(Date.parse(String(json['created_at'])) - Date.now())).toBeLessThan(15_000);
  expect(await startAhead(other, -7_200_000)).toBe(false);
  expect(other.log).toContain('7200 s behind that of the database. Set it');
});
