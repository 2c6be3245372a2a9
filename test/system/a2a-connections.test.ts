import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import {
  handshake,
  heading,
  query,
  request,
  type SigningCaller,
  serverKeyOf,
  signed,
  signingCaller,
} from './a2a-peer.ts';
import { call } from './call.ts';
import { agentModule, System } from './system.ts';

const echo = { driver: 'module' as const, module: agentModule('echo'), skills: ['echo_text'] };
const far = await System.start({
  config: { agents: { echo, 'far-echo': echo }, messages: { require_signatures: true } },
});
afterAll(() => far[Symbol.asyncDispose]());
const near = await System.start({
  config: { agents: { echo }, messages: { port: 0, agent_id: 'near-server' }, gate: { callbacks: [far.host] } },
});
afterAll(() => near[Symbol.asyncDispose]());
const ada = await near.caller('ada-agent');
const eve = await near.caller('eve-agent');
const signer = await signingCaller(near, 'signing-agent');

describe('a WebSocket', () => {
  test('carries a session from the handshake to the goodbye, and closes then', async () => {
    const socket = new WebSocket(`${near.url.replace('http', 'ws')}/a2a/messages/ws`, {
      headers: { authorization: `Bearer ${ada.api_key}` },
    });
    await once(socket, 'open');
    const received: JsonObject[] = [];
    socket.on('message', (data) => received.push(JSON.parse(data.toString())));
    socket.send(JSON.stringify(handshake()));
    socket.send(JSON.stringify(request({ content: 'by socket' })));
    socket.send('{');
    await expect.poll(() => received.length).toBe(3);
    expect(received.find(({ message_type }) => message_type === 'handshake_ack')).toBeDefined();
    expect(received.find(({ message_type }) => message_type === 'response')).toMatchObject({
      payload: { data: { echoed: 'by socket' } },
    });
    expect(received.find(({ code }) => code === 'not_json')).toBeDefined();
    socket.send(JSON.stringify({ ...heading('goodbye'), payload: {} }));
    await once(socket, 'close');
    expect(received).toHaveLength(3);
  });

  test('is held to what its caller may do now', async () => {
    const changing = await near.caller('changing-agent');
    const socket = new WebSocket(`${near.url.replace('http', 'ws')}/a2a/messages/ws`, {
      headers: { authorization: `Bearer ${changing.api_key}` },
    });
    await once(socket, 'open');
    const ask = async () => {
      socket.send(JSON.stringify({ ...request({ content: 'may I' }), sender_id: 'changing-agent' }));
      const [data] = await once(socket, 'message');
      return JSON.parse(data.toString()) as JsonObject;
    };
    expect(await ask()).toMatchObject({ message_type: 'response' });
    const json = { agent_id: 'changing-agent', permissions: { agents: [] } };
    await call(near.url, { method: 'POST', path: '/admin/v1/agents', key: near.adminKey, json });
    expect(await ask()).toMatchObject({ message_type: 'error', payload: { error: { code: 'FORBIDDEN' } } });
    socket.close();
  });

  test('carries messages of ten megabytes, and none larger', async () => {
    const socket = new WebSocket(`${near.url.replace('http', 'ws')}/a2a/messages/ws`, {
      headers: { authorization: `Bearer ${ada.api_key}` },
    });
    await once(socket, 'open');
    socket.send(JSON.stringify(request({ content: 'x'.repeat(9_900_000) })));
    const [data] = await once(socket, 'message');
    expect(JSON.parse(data.toString())).toMatchObject({ payload: { status: 'success' } });
    socket.send(JSON.stringify(request({ content: 'x'.repeat(10 * 1024 * 1024) })));
    expect((await once(socket, 'close'))[0]).toBe(1009);
  });
});

describe('plain lines', () => {
  test('every message is signed there, and only the agent that opened it speaks', async () => {
    const other = await signingCaller(near, 'other-speaker');
    const { ask, socket } = lines(near.messagesUrl);
    const own = (message: JsonObject) => ({ ...message, sender_id: 'signing-agent' });
    expect(await ask(signed(signer, handshake()))).toMatchObject({ message_type: 'handshake_ack' });
    expect(await ask(signed(signer, request({ content: 'by line' })))).toMatchObject({
      payload: { data: { echoed: 'by line' } },
    });
    // Otherwise anyone who repeats a handshake could continue in its name.
    expect(await ask(own(request({})))).toMatchObject({ payload: { error: { code: 'AUTHENTICATION_FAILED' } } });
    expect(await ask(signed(other, request({})))).toMatchObject({ payload: { error: { code: 'FORBIDDEN' } } });
    socket.write(`${JSON.stringify(signed(signer, { ...heading('goodbye'), payload: {} }))}\n`);
    await once(socket, 'close');
  });

  test('only the first agent of a connection may use it, even without a handshake', async () => {
    const other = await signingCaller(near, 'second-speaker');
    const { ask, socket } = lines(near.messagesUrl);
    expect(await ask(signed(signer, request({ content: 'first' })))).toMatchObject({ message_type: 'response' });
    for (const message of [request({}), query({})]) {
      expect(await ask(signed(other, message))).toMatchObject({ payload: { error: { code: 'FORBIDDEN' } } });
    }
    expect(await ask(signed(signer, request({ content: 'again' })))).toMatchObject({ message_type: 'response' });
    socket.destroy();
  });

  test('an unproven silent peer is disconnected; a proven one may be silent', async () => {
    const silent = connect(Number(new URL(near.messagesUrl).port), '127.0.0.1').resume();
    const { ask, socket } = lines(near.messagesUrl);
    await ask(signed(signer, handshake()));
    const anonymous = new WebSocket(`${near.url.replace('http', 'ws')}/a2a/messages/ws`);
    await Promise.all([once(silent, 'close'), once(anonymous, 'close')]);
    expect(await ask(signed(signer, request({ content: 'still here' })))).toMatchObject({
      payload: { data: { echoed: 'still here' } },
    });
    socket.destroy();
  });
});

describe('the registry', () => {
  test('registers, finds, takes heartbeats and unregisters; an id belongs to its owner', async () => {
    const first = await register(ada.api_key, 'weather-agent', ['weather_read', 'data_read']);
    expect([first.status, first.json]).toMatchObject([201, { status: 'registered', agent_id: 'weather-agent' }]);
    const again = await register(ada.api_key, 'weather-agent', ['weather_read']);
    expect([again.status, again.json]).toMatchObject([
      200,
      { status: 'updated', registered_at: first.json['registered_at'] },
    ]);
    for (const taken of ['weather-agent', 'ada-agent', 'echo', 'near-server']) {
      expect((await register(eve.api_key, taken, ['data_read'])).status, taken).toBe(403);
    }
    const found = await get('/agents/discover?capability=weather_read&name=WEATHER', eve.api_key);
    expect(found).toMatchObject({
      count: 1,
      agents: [{ agent_card: { agent_id: 'weather-agent' }, health_status: 'healthy', source: 'self_declared' }],
      query: { capability: 'weather_read', name: 'WEATHER', limit: 10 },
    });
    expect(await get('/agents/discover?capability=data_read', eve.api_key)).toMatchObject({ count: 0 });
    expect(await get('/agents/weather-agent', eve.api_key)).toMatchObject({
      endpoint: 'https://weather.example.com/a2a',
    });
    const beat = await call(near.url, { method: 'PUT', path: '/agents/weather-agent/heartbeat', key: ada.api_key });
    expect(await beat.json()).toMatchObject({ status: 'acknowledged', agent_id: 'weather-agent' });
    expect(await get('/stats', ada.api_key)).toMatchObject({ total_agents: 2, healthy_agents: 2 });
    const gone = await call(near.url, { method: 'DELETE', path: '/agents/weather-agent', key: ada.api_key });
    expect(gone.status).toBe(200);
    expect(await get('/agents/discover?capability=weather_read', eve.api_key)).toMatchObject({ count: 0 });
  });

  test('shows the agents of this server as seen now at every request: they send no heartbeats', async () => {
    const { last_heartbeat: before } = await get('/agents/echo', ada.api_key);
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(String(before)) + 5);
    const sentAt = Date.now();
    const announced = await post(signed(signer, query({ capabilities: ['echo_text'] })));
    const { agents } = announced['payload'] as unknown as { agents: { last_heartbeat: string }[] };
    const listed = [agents[0], await get('/agents/echo', ada.api_key)] as { last_heartbeat: string }[];
    for (const { last_heartbeat } of listed) expect(Date.parse(last_heartbeat)).toBeGreaterThanOrEqual(sentAt);
  });

  test('reports the problem of a card', async () => {
    const { status, json } = await register(ada.api_key, 'x', []);
    expect(status).toBe(400);
    const pointers = (json['issues'] as JsonObject[]).map(({ pointer }) => pointer);
    expect(pointers).toEqual(expect.arrayContaining(['/agent_card/agent_id', '/agent_card/capabilities']));
  });

  test('an agent that is removed takes with it what it registered, which is free then', async () => {
    const bob = await near.caller('bob-agent');
    const remove = (id: string) =>
      call(near.url, { method: 'DELETE', path: `/admin/v1/agents/${id}`, key: near.adminKey });
    const ask = async (recipient_id: string) =>
      (await post(signed(signer, { ...request({}), recipient_id })))['payload'] as JsonObject;
    await register(bob.api_key, 'bobs-weather', ['bobs_weather']);
    await register(eve.api_key, 'eves-weather', ['bobs_weather']);
    expect((await remove('bob-agent')).status).toBe(200);
    expect(await get('/agents/discover?capability=bobs_weather', eve.api_key)).toMatchObject({ count: 1 });
    expect(await ask('bobs-weather')).toMatchObject({ error: { code: 'AGENT_NOT_REGISTERED' } });
    expect((await register(eve.api_key, 'bobs-weather', ['bobs_weather'])).status).toBe(201);
    // One that registered can be removed itself, and is not there any more, also after a restart.
    for (const id of ['bobs-weather', 'eves-weather']) expect((await remove(id)).status).toBe(200);
    expect((await remove('eves-weather')).status).toBe(404);
    await near.kill();
    await near.start();
    expect(await get('/agents/discover?capability=bobs_weather', eve.api_key)).toMatchObject({ count: 0 });
  });

  test('outlives the process', async () => {
    await register(ada.api_key, 'lasting-agent', ['last_long']);
    await near.kill();
    await near.start();
    expect(await get('/agents/discover?capability=last_long', ada.api_key)).toMatchObject({ count: 1 });
  });
});

describe('two servers', () => {
  test('an agent of the other is found here and called there, in the name of this server', async () => {
    const nearKey = await serverKeyOf(near, ada.api_key);
    await far.caller('near-server', { permissions: { agents: ['far-echo'] }, public_key: nearKey });
    const farReader = await signingCaller(far, 'far-reader');
    const farKey = await serverKeyOf(far, farReader.api_key);
    await register(ada.api_key, 'far-echo', ['far_echo'], { endpoint: `${far.url}/a2a/messages`, public_key: farKey });

    const announced = await post(signed(signer, query({ capabilities: ['far_echo'] })));
    expect(announced).toMatchObject({
      payload: { agents: [{ agent_id: 'far-echo', endpoint: `${far.url}/a2a/messages` }] },
    });
    const sentAt = { ...request({ content: 'across' }), recipient_id: 'far-echo' };
    expect(await post(signed(signer, sentAt))).toMatchObject({
      message_type: 'response',
      sender_id: 'far-echo',
      recipient_id: 'signing-agent',
      payload: { status: 'success', data: { echoed: 'across' } },
    });
  });

  test('an answer that is not signed by the key of the card is refused', async () => {
    const other = await signingCaller(near, 'other-signer');
    await register(ada.api_key, 'far-echo', ['far_echo'], {
      endpoint: `${far.url}/a2a/messages`,
      public_key: other.pem,
    });
    const sentAt = { ...request({ content: 'across' }), recipient_id: 'far-echo' };
    expect(await post(signed(signer, sentAt))).toMatchObject({ payload: { error: { code: 'DEPENDENCY_FAILED' } } });
  });

  test('an internal endpoint is not reached, even if an agent registered it', async () => {
    const refused = await register(ada.api_key, 'inner-agent', ['inner'], { endpoint: 'http://127.0.0.1:9/a2a' });
    expect(refused.status).toBe(400);
    const sentAt = { ...request({}), recipient_id: 'inner-agent' };
    expect(await post(signed(signer, sentAt))).toMatchObject({ payload: { error: { code: 'AGENT_NOT_REGISTERED' } } });
  });

  test('where signatures are required, a key alone is not enough', async () => {
    const own: SigningCaller = await signingCaller(far, 'must-sign');
    const unsigned = { ...request({}), sender_id: 'must-sign' };
    const headers = { 'content-type': 'application/json' };
    const send = (json: JsonObject) =>
      call(far.url, { method: 'POST', path: '/a2a/messages', key: own.api_key, headers, json });
    expect((await send(unsigned)).status).toBe(401);
    expect((await send(signed(own, unsigned))).status).toBe(200);
  });
});

test('the schemas are there for everybody, and nothing beside them', async () => {
  const schema = await call(near.url, { path: '/schemas/a2a-messages/base-message.json' });
  expect([schema.status, await schema.json()]).toMatchObject([200, { title: expect.any(String) }]);
  for (const name of ['a2a-messages/none.json', 'a2a-messages/..%2f..%2fpackage.json', 'none/base-message.json']) {
    expect((await call(near.url, { path: `/schemas/${name}` })).status, name).toBe(404);
  }
});

/** A connection of plain lines. */
function lines(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const input = createInterface({ input: socket });
  const ask = async (message: JsonObject): Promise<JsonObject> => {
    const line = once(input, 'line');
    socket.write(`${JSON.stringify(message)}\n`);
    return JSON.parse((await line)[0]);
  };
  return { socket, ask };
}

async function register(
  key: string,
  agent_id: string,
  capabilities: readonly string[],
  { endpoint = 'https://weather.example.com/a2a', public_key }: { endpoint?: string; public_key?: string } = {},
): Promise<{ status: number; json: JsonObject }> {
  const agent_card = {
    agent_id,
    name: agent_id,
    version: '1.0.0',
    description: 'of a test',
    capabilities,
    supported_protocols: ['A2A/1.0'],
    ...(public_key !== undefined && { metadata: { public_key } }),
  };
  const answer = await call(near.url, {
    method: 'POST',
    path: '/agents/register',
    key,
    json: { agent_card, endpoint },
  });
  return { status: answer.status, json: (await answer.json()) as JsonObject };
}

async function get(path: string, key: string): Promise<JsonObject> {
  return (await (await call(near.url, { path, key })).json()) as JsonObject;
}

async function post(json: JsonObject): Promise<JsonObject> {
  return (await (await call(near.url, { method: 'POST', path: '/a2a/messages', json })).json()) as JsonObject;
}
