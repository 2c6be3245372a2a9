import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, type Store } from '@dragoman/core';
import { afterAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { SilentLog } from '../../core/test-support/silent-log.ts';
import type { Config } from './config/config-schema.ts';
import { systemClock, systemIds } from './parts/system-ports.ts';
import { type Server, startServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-server-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const log = new SilentLog();

test('bytes that are not UTF-8 are reported as such by administration endpoints, too', async () => {
  const server = await start({ port: 0 });
  const answer = await fetch(`${server.url}/admin/v1/agents`, {
    method: 'POST',
    headers: { authorization: 'Bearer adm_test_0123456789abcdef', 'content-type': 'application/json' },
    body: Uint8Array.of(0x7b, 0xff, 0x7d),
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'not_utf8' });
  await server.stop({ drainMs: 0 });
});

test('it is not ready any more when its database file was removed', async () => {
  const data = mkdtempSync(join(tmpdir(), 'dragoman-removed-'));
  const config = { host: '127.0.0.1', port: 0 };
  const server = await startServer({ config, folder: data, log, clock: systemClock, ids: systemIds, onAdminKey() {} });
  const ready = async () => (await fetch(`${server.url}/ready`)).status;
  expect(await ready()).toBe(200);
  rmSync(data, { recursive: true, force: true });
  expect(await ready()).toBe(503);
  await server.stop({ drainMs: 0 });
  rmSync(data, { recursive: true, force: true });
});

test('its OpenAPI document is self-contained, and describes the input and output of an E2A endpoint', async () => {
  const server = await start({ port: 0 });
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    readonly components: { readonly schemas: object };
    readonly paths: Readonly<Record<string, object>>;
  };
  const references = JSON.stringify(document).match(/"\$ref":"[^"]*"/g) ?? [];
  const listed = Object.keys(document.components.schemas).map((name) => `"$ref":"#/components/schemas/${name}"`);
  expect(new Set(references)).toEqual(new Set(listed));
  expect(document.paths['/e2a']).toMatchObject({
    post: {
      parameters: [{ name: 'Idempotency-Key', in: 'header' }],
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/e2a.envelope' } } } },
      responses: {
        '2XX': {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/e2a.response' } },
            'text/event-stream': {},
            'application/x-ndjson': {},
          },
        },
      },
    },
  });
  await server.stop({ drainMs: 0 });
});

test('an agent of the configuration is not removed by administration, and answers again when what stood in for it is', async () => {
  const module = join(folder, 'reply.mjs');
  writeFileSync(module, "export default async function* () { return 'configured'; }");
  const other = join(folder, 'other.mjs');
  writeFileSync(other, "export default async function* () { return 'administered'; }");
  const server = await start({ port: 0, agents: { desk: { driver: 'module', module } } });
  const ask = async (
    path: string,
    method: string,
    { key = 'adm_test_0123456789abcdef', body }: { key?: string; body?: object } = {},
  ) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}${path}`, { method, headers, ...sent });
    return { status: answer.status, json: (await answer.json()) as { api_key: string; body?: unknown } };
  };
  const caller = { agent_id: 'caller', permissions: { agents: ['*'] } };
  const key = (await ask('/admin/v1/agents', 'POST', { body: caller })).json.api_key;
  const chat = { method: 'chat.send', params: {} };
  const reply = async () => (await ask('/e2a/agents/desk', 'POST', { key, body: chat })).json.body;
  const refused = { status: 409, json: { code: 'conflict', suggestions: [expect.stringContaining('SIGHUP')] } };

  expect(await ask('/admin/v1/agents/desk', 'DELETE')).toMatchObject(refused);
  expect(await reply()).toEqual({ result: 'configured' });
  const standIn = { agent_id: 'desk', permissions: {}, driver: 'module', module: other };
  await ask('/admin/v1/agents', 'POST', { body: standIn });
  expect(await reply()).toEqual({ result: 'administered' });
  expect(await ask('/admin/v1/agents/desk', 'DELETE')).toMatchObject({ status: 200 });
  expect(await reply()).toEqual({ result: 'configured' });
  // The same where it stays as a caller, and answers no longer.
  await ask('/admin/v1/agents', 'POST', { body: standIn });
  await ask('/admin/v1/agents', 'POST', { body: { agent_id: 'desk', permissions: {} } });
  expect(await reply()).toEqual({ result: 'configured' });
  expect(await ask('/admin/v1/agents/desk', 'DELETE')).toMatchObject({ status: 200 });
  expect(await reply()).toEqual({ result: 'configured' });
  await server.stop({ drainMs: 0 });
});

test('an agent of the administration whose file is gone does not prevent a start, and can be removed', async () => {
  const module = join(folder, 'gone.mjs');
  writeFileSync(module, "export default async function* () { return 'here'; }");
  const headers = { authorization: 'Bearer adm_test_0123456789abcdef', 'content-type': 'application/json' };
  const first = await start({ port: 0 });
  const body = JSON.stringify({ agent_id: 'gone', permissions: { agents: ['gone'] }, driver: 'module', module });
  const made = await fetch(`${first.url}/admin/v1/agents`, { method: 'POST', headers, body });
  const { api_key: key } = (await made.json()) as { api_key: string };
  await first.stop({ drainMs: 0 });
  rmSync(module);

  const second = await start({ port: 0 });
  const chat = JSON.stringify({ method: 'chat.send', params: {} });
  const caller = { ...headers, authorization: `Bearer ${key}` };
  const answer = await fetch(`${second.url}/e2a/agents/gone`, { method: 'POST', headers: caller, body: chat });
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ is_final: true, body: { code: 'E2A.AGENT_ERROR' } });
  expect(text).not.toContain(module);
  const removed = await fetch(`${second.url}/admin/v1/agents/gone`, { method: 'DELETE', headers });
  expect(removed.status).toBe(200);
  await second.stop({ drainMs: 0 });
});

test('an agent that dials in although nothing would be sent to it gets an error', async () => {
  const server = await start({ port: 0 });
  const headers = { authorization: 'Bearer adm_test_0123456789abcdef', 'content-type': 'application/json' };
  const dialled = async (definition: object) => {
    const body = JSON.stringify({ permissions: {}, ...definition });
    const made = await fetch(`${server.url}/admin/v1/agents`, { method: 'POST', headers, body });
    const { api_key: key } = (await made.json()) as { api_key: string };
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/e2a/agent/ws`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await once(socket, 'open');
    return socket;
  };
  for (const definition of [
    { agent_id: 'only-calls' },
    { agent_id: 'by-http', driver: 'http', url: 'http://127.0.0.1:1' },
  ]) {
    const [code, reason] = await once(await dialled(definition), 'close');
    expect([code, String(reason)]).toEqual([1008, expect.stringContaining('does not use the e2a-ws driver')]);
  }
  const kept = await dialled({ agent_id: 'dials-in', driver: 'e2a-ws' });
  for (let times = 0; times < 5; times++) {
    kept.ping();
    await once(kept, 'pong');
  }
  kept.terminate();
  await server.stop({ drainMs: 0 });
});

test('a start that finds its port taken leaves nothing running', async () => {
  const agent = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(agent, 'listening');
  let dials = 0;
  agent.on('connection', () => dials++);
  const { port: agentPort } = agent.address() as AddressInfo;
  const taken = createServer((socket: Socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const agents = { far: { driver: 'e2a-ws', url: `ws://127.0.0.1:${agentPort}` } } as const;

  const first = await start({ port: 0, agents });
  await expect.poll(() => dials).toBe(1);
  await first.stop({ drainMs: 0 });
  const { port } = taken.address() as AddressInfo;
  await expect(start({ port, agents })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await expect.poll(() => agent.clients.size).toBe(0);
  const dialled = dials;

  // The folder is free again, and nothing of the failed start is left.
  const second = await start({ port: 0 });
  expect((await fetch(`${second.url}/health`)).status).toBe(200);
  expect(dials).toBe(dialled);
  await second.stop({ drainMs: 0 });
  agent.close();
  taken.close();
});

test('finished requests, their sessions and executions are deleted after keep_answers_hours', async () => {
  const ages = { old: Date.now(), young: Date.now() + 2 * 3_600_000 };
  await withStore(async (store) => {
    for (const [name, at] of Object.entries(ages)) {
      const request = { owner: 'ada', requestId: name, agentId: 'a', sessionId: `of-${name}`, idempotencyKey: null };
      const rest = { envelope: '{}', acceptedAt: at, expiresAt: null, priority: 1, state: 'started' } as const;
      await store.requests.acceptAnswered({ ...request, ...rest }, [{ sequence: 0, isFinal: true, text: '{}' }]);
      const end = { status: 'success', result: '{}', events: '[]', endedAt: at };
      const execution = { owner: 'ada', executionId: name, digest: 'd', idempotencyKey: null, request: '{}' };
      await store.executions.accept({ ...execution, acceptedAt: at, end });
    }
  });
  const clock = { ...systemClock, now: () => new Date(ages.young + 1) };
  const config: Config = { port: 0, keep_answers_hours: 1 };
  const server = await startServer({
    config,
    folder,
    clock,
    ids: systemIds,
    log,
    adminKey: 'adm_test_0123456789abcdef',
  });
  const headers = { Authorization: 'Bearer adm_test_0123456789abcdef' };
  await expect
    .poll(async () => (await fetch(`${server.url}/admin/v1/requests/old`, { headers })).status, { timeout: 20_000 })
    .toBe(404);
  await server.stop({ drainMs: 0 });
  await withStore(async (store) => {
    expect((await store.requests.named('young')).length).toBe(1);
    expect((await store.executions.named('young')).length).toBe(1);
    expect(await store.executions.named('old')).toEqual([]);
    const { rows } = await store.sessions.list('ada', { offset: 0, limit: 10 });
    expect(rows.map(({ sessionId }) => sessionId)).toEqual(['of-young']);
  });
});

test('a start that finds its port taken does not touch the requests of an earlier process', async () => {
  const taken = createServer((socket: Socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const key = { owner: 'admin', requestId: 'accepted-before' };
  await withStore((store) =>
    store.requests.accept({
      ...key,
      agentId: 'far',
      sessionId: null,
      idempotencyKey: null,
      envelope: '{"request_id":"accepted-before","method":"chat.send","params":{}}',
      state: 'accepted',
      acceptedAt: Date.now(),
      expiresAt: null,
      priority: 1,
    }),
  );
  await expect(start({ port: (taken.address() as AddressInfo).port })).rejects.toThrow('EADDRINUSE');
  taken.close();
  expect(await withStore((store) => store.requests.find(key))).toMatchObject({ state: 'accepted' });
});

test.each(['0.0.0.0', '::'])('a server on %s reports its URL on this machine, and answers there', async (host) => {
  const server = await start({ host, port: 0 });
  expect(new URL(server.url).hostname).toBe(host === '::' ? '[::1]' : '127.0.0.1');
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  await server.stop({ drainMs: 0 });
});

function start(config: Config): Promise<Server> {
  return startServer({
    config,
    folder,
    clock: systemClock,
    ids: systemIds,
    log,
    adminKey: 'adm_test_0123456789abcdef',
  });
}

async function withStore<T>(act: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ folder, onFatal: () => {} });
  try {
    return await act(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}
