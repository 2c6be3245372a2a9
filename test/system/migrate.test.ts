import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startPostgres } from '../../packages/core/test-support/postgres-server.ts';
import { allFrames, call } from './call.ts';
import { CountingApi } from './counting-api.ts';
import { ok, Receiver } from './receiver.ts';
import { moduleAgent, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

// A folder with everything under way goes to PostgreSQL, where a server continues it, and back to a folder.

const postgres = await startPostgres({ isDurable: true });
const authority = new TestAuthority();
let isOpen = false;
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']), (response) => {
  if (isOpen) ok(response);
  else response.writeHead(503).end();
});
const api = await CountingApi.start();
api.answers('GET /secret', { fine: true });
const config = {
  default_agent: 'letters',
  agents: { letters: moduleAgent('letters'), held: { ...moduleAgent('held'), max_parallel: 1 } },
  apis: { shop: { base_url: api.url } },
  mailbox: { callbacks: { backoff_ms: 50 } },
  gate: { callbacks: [receiver.hostPort], ca: [authority.path], allow: [api.host] },
};
const needsFolder = 'its folder is copied to and from PostgreSQL';
const embedded = System.create({ config, needsFolder });
const shared = System.create({ config: { ...config, store: postgres.url('moved') } });
const again = System.create({ config, needsFolder });
afterAll(async () => {
  for (const system of [embedded, shared, again]) await system[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await postgres.stop();
});

const all = ['*'];
const permissions = { operations: all, apis: all, credentials: all, agents: all, tools: all };
const admin = { DRAGOMAN_ADMIN_KEY: embedded.adminKey };
let environment: Readonly<Record<string, string>> = admin;
let key = '';

function migrate(from: string, to: string): Promise<{ code: number; out: string; note: string }> {
  const words = [embedded.command, 'migrate', '--json', '--from', from, '--to', to];
  return new Promise((resolve) => {
    execFile(process.execPath, words, (error, out, note) => resolve({ code: Number(error?.code ?? 0), out, note }));
  });
}

async function post(system: System, path: string, json: unknown, headers: Record<string, string> = {}) {
  const answer = await call(system.url, { method: 'POST', path, key, json, headers });
  expect(answer.status).toBeLessThan(300);
  return answer;
}

async function framesOf(system: System, id: string): Promise<string[]> {
  const path = `/e2a/requests/${id}/responses`;
  return allFrames(await call(system.url, { path, key, accept: 'application/x-ndjson' }));
}

function workflow(id: string, ...operations: object[]): { workflow: string } {
  const ids = operations.map((_, index) => `step${index}`);
  const lines = operations.map((operation, index) => ({
    type: 'operationUpdate',
    operationId: ids[index],
    operation,
  }));
  const all = [...lines, { type: 'beginExecution', executionId: id, operationOrder: ids }];
  return { workflow: all.map((line) => JSON.stringify(line)).join('\n') };
}

const now = { GetCurrentDateTime: { outputPath: '/workflow/now' } };
const store = (storage: string) => ({ StoreData: { inputPath: '/workflow/now', storage, key: `in-${storage}` } });
const secret = {
  ApiCall: {
    method: 'GET',
    url: `${api.url}/secret`,
    headers: { 'X-Key': { credentialRef: { id: 'token' } } },
    outputPath: '/workflow/answer',
  },
};

/** What a secret was for is sent with it. */
async function usesTheSecret(system: System, id: string): Promise<void> {
  const answer = await post(system, '/api/v1/workflows/execute', workflow(id, secret));
  expect(await answer.json()).toMatchObject({ status: 'success' });
  expect(api.requests.at(-1)?.headers['x-key']).toBe('secret-of-the-vault');
}

let frames: string[];
let execution: unknown;
let stored: unknown;
let firstFrame: string;

test('a folder in use is refused', async () => {
  await embedded.start(admin);
  key = (await embedded.caller('mover', { permissions })).api_key;
  await call(embedded.url, {
    method: 'PUT',
    path: '/admin/v1/credentials/token',
    key: embedded.adminKey,
    json: { type: 'api-key', value: 'secret-of-the-vault', hosts: [api.host] },
  });
  await usesTheSecret(embedded, 'before');
  await post(embedded, '/e2a', { request_id: 'finished', is_stream: true, params: { content: 'hello' } });
  frames = await framesOf(embedded, 'finished');
  const execute = '/api/v1/workflows/execute';
  execution = await (
    await post(embedded, execute, workflow('stored', now, store('localStorage'), store('file')))
  ).json();
  stored = await (await call(embedded.url, { path: '/api/v1/storage', key })).json();
  const message = { from: { name: 'Mover' }, message: 'hello' };
  await post(embedded, '/a2a', { ...message, metadata: { messageId: 'm-1', threadId: 'lunch' } });
  const opened = await call(embedded.url, {
    method: 'POST',
    path: '/e2a',
    key,
    accept: 'application/x-ndjson',
    json: { request_id: 'started', agent_ref: { id: 'held' }, is_stream: true, params: {} },
  });
  for await (const frame of opened.frames()) {
    firstFrame = frame;
    break;
  }
  const waiting = { request_id: 'waiting', agent_ref: { id: 'held' }, params: { content: 'later' } };
  void call(embedded.url, { method: 'POST', path: '/e2a', key, json: waiting }).catch(() => {});
  await post(embedded, execute, workflow('running', now, { Wait: { duration: 1500 } }, now), {
    prefer: 'respond-async',
  });
  const from = { name: 'Mover', callbackUrl: receiver.url('/answers') };
  await post(embedded, '/a2a', { from, message: 'hello', metadata: { messageId: 'm-2', threadId: 'supper' } });
  await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBeGreaterThan(0);
  const path = '/e2a/requests/waiting/responses';
  await expect
    .poll(async () => {
      const answer = await call(embedded.url, { path, key, accept: 'application/x-ndjson' });
      answer.destroy();
      return answer.status;
    })
    .toBe(200);
  const refused = await migrate(`sqlite:${embedded.data}`, postgres.url('moved'));
  expect(refused.code).toBe(1);
  expect(refused.note).toContain('store_locked');
  await embedded.kill();
});

test('the server on PostgreSQL has everything, continues what was under way and opens the vault', {
  timeout: 60_000,
}, async () => {
  const moved = await migrate(`sqlite:${embedded.data}`, postgres.url('moved'));
  expect(moved).toMatchObject({ code: 0, note: '' });
  const vaultKey = readFileSync(join(embedded.data, 'vault.key'), 'utf8').trim();
  environment = { ...admin, DRAGOMAN_VAULT_KEY: vaultKey };
  expect(moved.out).not.toContain(vaultKey);
  isOpen = true;
  await shared.start(environment);
  expect(await framesOf(shared, 'finished')).toEqual(frames);
  const [first, last, ...more] = await framesOf(shared, 'started');
  expect([first, more]).toEqual([firstFrame, []]);
  expect(JSON.parse(last ?? '')).toMatchObject({ sequence: 1, is_final: true, body: { code: 'E2A.INTERRUPTED' } });
  const [only] = await framesOf(shared, 'waiting');
  expect(JSON.parse(only ?? '')).toMatchObject({ sequence: 0, body: { result: { echoed: 'later' } } });
  const read = async (path: string) => (await call(shared.url, { path, key })).json();
  expect(await read('/api/v1/executions/stored')).toEqual(execution);
  await expect.poll(() => read('/api/v1/executions/running'), { timeout: 20_000 }).toMatchObject({ status: 'success' });
  expect(await read('/a2a/threads/lunch')).toMatchObject({ messages: [{ sequence: 1 }, { sequence: 2 }] });
  expect(await read('/api/v1/storage')).toEqual(stored);
  await expect
    .poll(() => receiver.received.some(({ body }) => body.includes('You said: hello')), { timeout: 30_000 })
    .toBe(true);
  await usesTheSecret(shared, 'on-postgres');
});

test('and so has a server on a folder that it is copied back to', { timeout: 60_000 }, async () => {
  const refused = await migrate(postgres.url('moved'), `sqlite:${again.data}`);
  expect(refused.code).toBe(1);
  expect(refused.note).toContain('Stop every node first');
  await shared.stop();
  expect(await migrate(postgres.url('moved'), `sqlite:${again.data}`)).toMatchObject({ code: 0, note: '' });
  await again.start(environment);
  expect(await framesOf(again, 'finished')).toEqual(frames);
  await usesTheSecret(again, 'on-sqlite');
  expect(await (await call(again.url, { path: '/a2a/threads/lunch', key })).json()).toMatchObject({
    messages: [{ sequence: 1 }, { sequence: 2 }],
  });
});
