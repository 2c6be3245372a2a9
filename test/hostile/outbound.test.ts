import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import type { Config } from '../../packages/server/src/config-schema.ts';
import { CARD, request } from '../system/a2a-peer.ts';
import { call } from '../system/call.ts';
import { CountingApi, send } from '../system/counting-api.ts';
import { Served } from '../system/served.ts';
import { moduleAgent, System } from '../system/system.ts';
import { WorkflowCaller, workflowOf } from '../system/workflow-caller.ts';

// A host of the operator that only its own API may reach, below /v1, and one that callers may be called back at.
const internal = await CountingApi.start();
const receiver = await CountingApi.start();
const config: Config = {
  default_agent: 'echo',
  agents: { echo: moduleAgent('echo') },
  apis: { shop: { base_url: `${internal.url}/v1` } },
  tools: [{ name: 'stock', description: 'Stock.', http: { url: `${internal.url}/v1/stock/{id}`, method: 'GET' } }],
  mailbox: { anonymous: ['echo'], callbacks: { retries: 0 } },
  messages: { agent_id: 'near-server', tools_agent: 'tools' },
  gate: { allow: [internal.host], callbacks: [receiver.host] },
};
const system = await System.start({ config });
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const api of [internal, receiver]) await api[Symbol.asyncDispose]();
});
for (const path of ['/v1/orders', '/v1/stock/7', '/admin', '/v1']) internal.answers(`GET ${path}`, { path });
receiver.answers('POST /in', {});

const everything = { agents: ['*'], tools: ['*'], operations: ['*'], apis: ['*'], credentials: ['*'] };
const ann = await system.caller('ann-agent', { permissions: everything });
const workflows = new WorkflowCaller(system, ann.api_key);
const admin = (path: string, json: JsonObject) =>
  call(system.url, { method: 'PUT', path: `/admin/v1/${path}`, key: system.adminKey, json });
await admin('credentials/shop-key', { type: 'api-key', value: 'a-key-of-the-shop', hosts: [internal.host] });

beforeEach(() => {
  for (const api of [internal, receiver]) api.requests.length = 0;
});

describe('a host in gate.allow', () => {
  test.each([
    ['an anonymous sender', undefined],
    ['a sender with a key for everything', ann.api_key],
  ])('is not called back for %s, whatever the path', async (_, key) => {
    for (const path of ['/v1/orders', '/admin', '/v1']) {
      const answer = await post(`${internal.url}${path}`, key);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(`${internal.host} in gate.callbacks`);
    }
    expect(internal.requests).toEqual([]);
  });

  test('cannot be registered as the endpoint of an agent', async () => {
    const answer = await register(`${internal.url}/v1/orders`);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { issues: [{ pointer: '/endpoint', suggestion: expect.stringContaining('gate.callbacks') }] },
    ]);
    expect(internal.requests).toEqual([]);
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
        key: ann.api_key,
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
  for (const path of OUTSIDE) {
    expect(await get(`${internal.url}${path}`, headers), path).toMatchObject({ error: { type: 'PermissionError' } });
  }
  expect(internal.requests).toEqual([]);
});

describe('a host in gate.callbacks', () => {
  test('is called back and relayed to', async () => {
    expect((await post(`${receiver.url}/in`, ann.api_key)).status).toBe(200);
    await expect.poll(() => receiver.count('POST /in')).toBe(1);
    receiver.behaviours.set('POST /a2a', (_, response) => send(response, 200, {}));
    expect((await register(`${receiver.url}/a2a`)).status).toBe(201);
    const json = { ...request({}), recipient_id: 'far-agent' };
    await (await call(system.url, { method: 'POST', path: '/a2a/messages', key: ann.api_key, json })).text();
    expect(receiver.count('POST /a2a')).toBe(1);
  });

  test('is not reached by workflows, nor registered as an API', async () => {
    expect(await get(`${receiver.url}/in`)).toMatchObject({ error: { type: 'PermissionError' } });
    expect((await admin('apis/receiver', { base_url: receiver.url })).status).toBe(400);
    expect(receiver.requests).toEqual([]);
  });
});

test('a callback that was accepted is judged again at every attempt, by the list as it is then', async () => {
  const callbacks = { retries: 3, backoff_ms: 500 };
  const served = await Served.start(() => ({
    ...config,
    port: 0,
    tools: [],
    mailbox: { ...config.mailbox, callbacks },
  }));
  try {
    const key = await served.caller('ada-agent');
    receiver.behaviours.set('POST /later', (_, response) => {
      if (receiver.count('POST /later') === 1) {
        served.write(JSON.stringify({ ...config, port: 0, tools: [], gate: { allow: [receiver.host] } }));
        served.signal('SIGHUP');
      }
      send(response, 503, {});
    });
    const json = { from: { name: 'Ada', callbackUrl: `${receiver.url}/later` }, message: 'hello' };
    expect((await call(served.url, { method: 'POST', path: '/a2a', key, json })).status).toBe(200);
    expect((await served.told<{ changed: string[] }>('reloaded')).changed).toContain('gate.callbacks');
    await expect.poll(() => served.log, { timeout: 30_000 }).toContain('a dead letter');
    const before = receiver.count('POST /later');
    expect((await call(served.url, { method: 'POST', path: '/a2a', key, json })).status).toBe(400);
    expect(receiver.count('POST /later')).toBe(before);
    expect(before).toBeLessThan(4);
  } finally {
    await served[Symbol.asyncDispose]();
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
  '/v1\\..\\admin',
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
  return call(system.url, { method: 'POST', path: '/agents/register', key: ann.api_key, json });
}

function apiCall(url: string, headers: JsonObject = {}): JsonObject {
  return { ApiCall: { method: 'GET', url, headers, outputPath: '/workflow/got' } };
}

function get(url: string, headers: JsonObject = {}) {
  return workflows.execute(workflowOf({ got: apiCall(url, headers) }), { level: 'lenient' });
}
