import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import type { Config } from '../../packages/server/src/config/config-schema.ts';
import { CARD, request } from '../system/a2a-peer.ts';
import { call } from '../system/call.ts';
import { CountingApi } from '../system/counting-api.ts';
import { Receiver } from '../system/receiver.ts';
import { Served } from '../system/served.ts';
import { moduleAgent, System } from '../system/system.ts';
import { TestAuthority } from '../system/test-authority.ts';
import { WorkflowCaller, workflowOf } from '../system/workflow-caller.ts';

// A host of the operator that only its own API may reach, below /v1, and one that callers may be called back at.
const authority = new TestAuthority();
const certificate = authority.issue(['IP:127.0.0.1']);
const internal = await CountingApi.start();
const hidden = await Receiver.start(certificate);
const receiver = await Receiver.start(certificate);
const config: Config = {
  default_agent: 'echo',
  agents: { echo: moduleAgent('echo') },
  apis: { shop: { base_url: `${internal.url}/v1` } },
  tools: [{ name: 'stock', description: 'Stock.', http: { url: `${internal.url}/v1/stock/{id}`, method: 'GET' } }],
  mailbox: { anonymous: ['echo'], callbacks: { retries: 0 } },
  messages: { agent_id: 'near-server', tools_agent: 'tools' },
  gate: { allow: [internal.host, hidden.hostPort], callbacks: [receiver.hostPort], ca: [authority.path] },
};
const system = await System.start({ config });
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const server of [internal, hidden, receiver]) await server[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});
for (const path of ['/v1/orders', '/v1/stock/7', '/admin', '/v1']) internal.answers(`GET ${path}`, { path });

const everything = { agents: ['*'], tools: ['*'], operations: ['*'], apis: ['*'], credentials: ['*'] };
const ada = await system.caller('ada-agent', { permissions: everything });
const workflows = new WorkflowCaller(system, ada.api_key);
const admin = (path: string, json: JsonObject) =>
  call(system.url, { method: 'PUT', path: `/admin/v1/${path}`, key: system.adminKey, json });
await admin('credentials/shop-key', { type: 'api-key', value: 'a-key-of-the-shop', hosts: [internal.host] });

beforeEach(() => {
  internal.requests.length = 0;
  receiver.received.length = 0;
});

describe('a host in gate.allow', () => {
  test.each([
    ['an anonymous sender', undefined],
    ['a sender with a key for everything', ada.api_key],
  ])('is not called back for %s, whatever the path', async (_, key) => {
    for (const path of ['/v1/orders', '/admin', '/v1']) {
      const answer = await post(hidden.url(path), key);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(`${hidden.hostPort} to gate.callbacks`);
    }
    expect(hidden.received).toEqual([]);
  });

  test('cannot be registered as the endpoint of an agent', async () => {
    const answer = await register(hidden.url('/v1/orders'));
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { issues: [{ pointer: '/endpoint', suggestion: expect.stringContaining('gate.callbacks') }] },
    ]);
    expect(hidden.received).toEqual([]);
  });

  test('is reached by a workflow below the base URL of its API, and nowhere else', async () => {
    expect(await get(`${internal.url}/v1/orders`)).toMatchObject({ results: { got: { path: '/v1/orders' } } });
    internal.requests.length = 0;
    for (const path of OUTSIDE) {
      expect(await get(`${internal.url}${path}`), path).toMatchObject({ error: { type: 'PermissionError' } });
    }
    expect(internal.requests).toEqual([]);
  });

  test('is reached by a configured tool, and by no argument of it outside its place', async () => {
    const ask = (id: string) =>
      call(system.url, {
        method: 'POST',
        path: '/a2a/messages',
        key: ada.api_key,
        json: { ...request({ id }), recipient_id: 'tools', payload: { method: 'stock', parameters: { id } } },
      }).then((answer) => answer.text());
    expect(await ask('7')).toContain('/v1/stock/7');
    for (const id of ['..', '../../admin', '%2e%2e', '..;', '7/../../admin', '..\\..\\admin']) await ask(id);
    const climbing = internal.requests.filter(({ path }) => /\.\.|%2e%2e/i.test(path));
    expect(climbing).toEqual([]);
  });
});

test('a credential does not leave the base URL of the API of its host, even for a caller with every permission', async () => {
  const headers = { 'X-Key': { credentialRef: { id: 'shop-key' } } };
  await get(`${internal.url}/v1/orders`, headers);
  expect(internal.requests[0]?.headers['x-key']).toBe('a-key-of-the-shop');
  internal.requests.length = 0;
  // Not only because the host is private: a public one would be let through.
  const message = expect.stringContaining('The credential was not sent');
  for (const path of OUTSIDE) {
    const refused = { error: { type: 'PermissionError', message } };
    expect(await get(`${internal.url}${path}`, headers), path).toMatchObject(refused);
  }
  expect(internal.requests).toEqual([]);
});

describe('a host in gate.callbacks', () => {
  test('is called back and relayed to', async () => {
    expect((await post(receiver.url('/in'), ada.api_key)).status).toBe(200);
    expect((await register(receiver.url('/a2a'))).status).toBe(201);
    const json = { ...request({}), recipient_id: 'far-agent' };
    await (await call(system.url, { method: 'POST', path: '/a2a/messages', key: ada.api_key, json })).text();
    expect((await receiver.until(2)).map(({ path }) => path).sort()).toEqual(['/a2a', '/in']);
  });

  test('is not reached by workflows, nor registered as an API', async () => {
    expect(await get(receiver.url('/in'))).toMatchObject({ error: { type: 'PermissionError' } });
    expect((await admin('apis/receiver', { base_url: receiver.url('') })).status).toBe(400);
    expect(receiver.received).toEqual([]);
  });
});

test('a callback that was accepted is judged again at every attempt, by the list as it is then', async () => {
  const served = await Served.start(() => ({
    ...config,
    port: 0,
    tools: [],
    mailbox: { callbacks: { retries: 3, backoff_ms: 500 } },
  }));
  const failing = await Receiver.start(certificate, (response, number) => {
    if (number === 0) served.signal('SIGHUP');
    response.writeHead(503).end();
  });
  const withList = (gate: Config['gate']) =>
    served.write(JSON.stringify({ ...config, port: 0, tools: [], gate: { ca: [authority.path], ...gate } }));
  try {
    withList({ callbacks: [failing.hostPort] });
    served.signal('SIGHUP');
    await served.event('reloaded');
    withList({ allow: [failing.hostPort] });
    const key = await served.caller('ada-agent');
    const json = { from: { name: 'Ada', callbackUrl: failing.url() }, message: 'hello' };
    expect((await call(served.url, { method: 'POST', path: '/a2a', key, json })).status).toBe(200);
    expect((await served.event<{ changed: string[] }>('reloaded')).changed).toContain('gate.callbacks');
    await expect.poll(() => served.log, { timeout: 30_000 }).toContain('a dead letter');
    // What the gate refuses is not tried again.
    expect(failing.received.length).toBeLessThan(4);
    expect((await call(served.url, { method: 'POST', path: '/a2a', key, json })).status).toBe(400);
  } finally {
    await served[Symbol.asyncDispose]();
    await failing[Symbol.asyncDispose]();
  }
});

/** Paths that lead out of /v1, or would for a server that decodes or resolves them in another way. */
const OUTSIDE = [
  '/admin',
  '/v10/orders',
  '/v1/../admin',
  '/v1/%2e%2e/admin',
  '/v1/..%2fadmin',
  '/v1/..;/admin',
  '/v1/%252e%252e%252fadmin',
  '//v1/orders',
  '/v1;/orders',
];

function post(callbackUrl: string, key: string | undefined) {
  const json = { from: { name: 'Me', callbackUrl }, message: 'hello' };
  return call(system.url, { method: 'POST', path: '/a2a', json, ...(key !== undefined && { key }) });
}

function register(endpoint: string) {
  const json = { agent_card: { ...CARD, agent_id: 'far-agent' }, endpoint };
  return call(system.url, { method: 'POST', path: '/agents/register', key: ada.api_key, json });
}

function apiCall(url: string, headers: JsonObject = {}): JsonObject {
  return { ApiCall: { method: 'GET', url, headers, outputPath: '/workflow/got' } };
}

function get(url: string, headers: JsonObject = {}) {
  return workflows.execute(workflowOf({ got: apiCall(url, headers) }), { level: 'lenient' });
}
