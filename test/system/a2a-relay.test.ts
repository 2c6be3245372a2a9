import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CARD, request, serverKeyOf } from './a2a-peer.ts';
import { call } from './call.ts';
import { DialledAgent } from './dialled-agent.ts';
import { agentModule, System } from './system.ts';

// A request reaches an agent with any driver, and its answer is returned as a response.

/** An agent that is its own server; at /a2a it speaks messages, under a name of its choice. */
const server = createServer(async (incoming, response) => {
  if (incoming.url === '/busy') {
    const message = JSON.parse(Buffer.concat(await incoming.toArray()).toString()) as JsonObject;
    const error = {
      code: 'RATE_LIMITED',
      message: 'Later.',
      retry_after: 7,
      documentation_url: 'https://a.example/later',
    };
    response.end(JSON.stringify({ ...answerTo(message), message_type: 'error', payload: { error } }));
    return;
  }
  if (incoming.url === '/a2a') {
    const message = JSON.parse(Buffer.concat(await incoming.toArray()).toString()) as JsonObject;
    const { parameters } = message['payload'] as { parameters: JsonObject };
    const data = { sender: message['sender_id'] ?? null, behalf: parameters['on_behalf_of'] ?? null };
    response.end(
      JSON.stringify({ ...answerTo(message), sender_id: 'another-agent', payload: { status: 'success', data } }),
    );
    return;
  }
  const { request_id, params } = JSON.parse(Buffer.concat(await incoming.toArray()).toString()) as {
    request_id: string;
    params: JsonObject;
  };
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const writeFrame = (frame: object) => response.write(`${JSON.stringify({ request_id, ...frame })}\n`);
  if (params['stream'] === true)
    writeFrame({ response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'in parts' } });
  const result = params['stream'] === true ? {} : { echoed: params['content'] };
  writeFrame({ response_kind: 'e2a.complete', is_final: true, body: { result } });
  response.end();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const serverHost = `127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => server.close());

const far = await System.start({
  config: { agents: { 'far-agent': { driver: 'module', module: agentModule('echo') } } },
});
afterAll(() => far[Symbol.asyncDispose]());
const near = await System.start({
  config: {
    agents: {
      'module-agent': { driver: 'module', module: agentModule('echo') },
      'words-agent': { driver: 'module', module: agentModule('words') },
      'http-agent': { driver: 'http', url: `http://${serverHost}/e2a` },
      'stdio-agent': { driver: 'stdio', command: process.execPath, args: [agentModule('lines')] },
      // For the key of the server in its card.
      echo: { driver: 'module', module: agentModule('echo') },
    },
    tools: [agentModule('tools')],
    messages: { agent_id: 'near-server', tools_agent: 'tools' },
    gate: { callbacks: [far.host, serverHost] },
  },
});
afterAll(() => near[Symbol.asyncDispose]());

const ada = await near.caller('ada-agent', { permissions: { agents: ['*'], tools: ['say', 'broken'] } });
const dialled = await dialIn('dialled-agent');
afterAll(() => dialled.close());
await far.caller('near-server', {
  permissions: { agents: ['far-agent'] },
  public_key: await serverKeyOf(near, ada.api_key),
});
await register({ ...CARD, agent_id: 'far-agent' }, `${far.url}/a2a/messages`);

test.each(['module-agent', 'http-agent', 'stdio-agent', 'dialled-agent', 'far-agent', 'tools'])(
  'the answer of %s is returned as a response of that name',
  async (recipient_id) => {
    const message: JsonObject = { ...request({ content: `to ${recipient_id}` }), recipient_id };
    const { status, json } = await ask(message);
    expect([status, json]).toMatchObject([
      200,
      {
        message_type: 'response',
        sender_id: recipient_id,
        recipient_id: 'ada-agent',
        correlation_id: message['message_id'],
        payload: { status: 'success', data: { echoed: `to ${recipient_id}` } },
      },
    ]);
  },
);

test('the answer of another agent than the recipient is refused', async () => {
  await register({ ...CARD, agent_id: 'odd-agent' }, `http://${serverHost}/a2a`);
  const { json } = await ask({ ...request({}), recipient_id: 'odd-agent' });
  expect(json).toMatchObject({
    payload: { error: { code: 'DEPENDENCY_FAILED', message: 'The answer is from another agent.' } },
  });
  await register({ ...CARD, agent_id: 'another-agent' }, `http://${serverHost}/a2a`);
  const message = await ask({ ...request({}), recipient_id: 'another-agent' });
  // It receives the name that our signature proves, not that of our caller.
  expect(message.json).toMatchObject({ payload: { status: 'success', data: { sender: 'near-server' } } });
});

test('a relayed request names its caller, whatever that caller wrote there', async () => {
  await register({ ...CARD, agent_id: 'another-agent' }, `http://${serverHost}/a2a`);
  const forged = {
    ...request({ on_behalf_of: { agent_id: 'somebody-else', proven: true } }),
    recipient_id: 'another-agent',
  };
  expect((await ask(forged)).json).toMatchObject({
    payload: { data: { behalf: { agent_id: 'ada-agent', proven: true } } },
  });
});

test('the error of an agent elsewhere keeps retry_after and documentation_url', async () => {
  await register({ ...CARD, agent_id: 'busy-agent' }, `http://${serverHost}/busy`);
  const { json } = await ask({ ...request({}), recipient_id: 'busy-agent' });
  const error = { code: 'RATE_LIMITED', retry_after: 7, documentation_url: 'https://a.example/later' };
  expect(json).toMatchObject({ payload: { status: 'error', error } });
});

describe('an agent that streams', () => {
  const streaming = ['words-agent', 'http-agent', 'stdio-agent'];

  test.each(streaming)('%s: its parts are collected into one answer', async (recipient_id) => {
    const { json } = await ask({ ...request({ stream: true }), recipient_id });
    const text = recipient_id === 'words-agent' ? 'one two' : 'in parts';
    expect(json).toMatchObject({ payload: { status: 'success', data: { text } } });
  });
});

describe('the tools of the server', () => {
  test('are found in the registry as an agent', async () => {
    const found = await call(near.url, { path: '/agents/tools', key: ada.api_key });
    expect(await found.json()).toMatchObject({ agent_card: { name: 'Tools' }, source: 'configured' });
  });

  test.each([
    ['a tool that is not there', 'fly', 'FORBIDDEN'],
    // In the same words: what a caller may not use looks like what is not there.
    ['a tool of others', 'secret', 'FORBIDDEN'],
    ['a tool that throws', 'broken', 'DEPENDENCY_FAILED'],
  ])('%s is an error', async (_name, method, code) => {
    const message = { ...request({}), recipient_id: 'tools', payload: { method, parameters: { content: 'x' } } };
    expect((await ask(message)).json).toMatchObject({ payload: { error: { code } } });
  });

  test('check their arguments by their schema', async () => {
    const { json } = await ask({ ...request({ content: 5 }), recipient_id: 'tools' });
    expect(json).toMatchObject({ payload: { error: { code: 'VALIDATION_FAILED' } } });
  });
});

function answerTo({ message_id, sender_id }: JsonObject): JsonObject {
  const heading = { ...request({}), message_type: 'response', recipient_id: sender_id ?? null };
  return { ...heading, correlation_id: message_id ?? null };
}

/** An agent that dials in and echoes each request. */
async function dialIn(agentId: string): Promise<DialledAgent> {
  const { api_key } = await near.caller(agentId, { permissions: {}, driver: 'e2a-ws' });
  const agent = await DialledAgent.dial(near.url, api_key);
  const answered = new Set<string>();
  const timer = setInterval(() => {
    for (const { request_id, params } of agent.received) {
      if (answered.has(request_id)) continue;
      answered.add(request_id);
      agent.complete(request_id, { echoed: (params as JsonObject)['content'] ?? null });
    }
  }, 5);
  void agent.closed.then(() => clearInterval(timer));
  return agent;
}

async function register(agent_card: JsonObject, endpoint: string): Promise<void> {
  const json = { agent_card, endpoint };
  const answer = await call(near.url, { method: 'POST', path: '/agents/register', key: ada.api_key, json });
  if (answer.status > 201) throw new Error(await answer.text());
}

async function ask(json: JsonObject): Promise<{ status: number; json: JsonObject }> {
  const answer = await call(near.url, { method: 'POST', path: '/a2a/messages', key: ada.api_key, json });
  return { status: answer.status, json: (await answer.json()) as JsonObject };
}
