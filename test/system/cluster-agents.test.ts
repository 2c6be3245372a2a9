import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CARD, heading, request } from './a2a-peer.ts';
import { allFrames, call, type HttpAnswer } from './call.ts';
import { ClusterSystem } from './cluster-system.ts';
import { DialledAgent } from './dialled-agent.ts';
import { SocketClient } from './socket-client.ts';
import { moduleAgent } from './system.ts';

// Agents that are connected to one of three real nodes, and their callers at the others.

const FAKE = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/acp-program.mjs', import.meta.url));
const cluster = await ClusterSystem.start(3, {
  default_agent: 'held',
  agents: {
    away: { driver: 'e2a-ws' },
    held: moduleAgent('held'),
    coder: { driver: 'acp', command: process.execPath, args: [FAKE], client_fs: 'caller' },
  },
});
afterAll(() => cluster[Symbol.asyncDispose]());
const { key } = cluster;
const [one, two, three] = cluster.nodes as [Node, Node, Node];
type Node = (typeof cluster.nodes)[0];

const last = (frames: readonly string[]) => JSON.parse(frames.at(-1) ?? '{}');
const admin = async (node: Node, path: string) => (await call(node.url, { path, key: one.adminKey })).json();

const state = async (requestId: string) =>
  ((await admin(two, `/admin/v1/requests/${requestId}`)) as { state: string }).state;

/** Nodes ask each other once a second whether a request has readers. */
const longerThanAsked = () => new Promise((resolve) => setTimeout(resolve, 2500));

/** A key that all nodes know. */
async function keyOf(agentId: string): Promise<string> {
  const { api_key } = await one.caller(agentId, { permissions: { agents: ['*'] } });
  for (const { url } of cluster.nodes) {
    while ((await call(url, { path: '/e2a/questions', key: api_key })).status !== 200)
      await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return api_key;
}

describe('an agent that has dialled in to one node', () => {
  let agent: DialledAgent;
  beforeAll(async () => {
    agent = await DialledAgent.dial(two.url, await keyOf('away'));
  });
  afterAll(() => agent.close());
  const ask = (requestId: string, more: object = {}) => ({
    ...{ request_id: requestId, method: 'chat.send', agent_ref: { id: 'away' }, params: { content: 'hi' } },
    ...more,
  });
  const received = async (requestId: string) => {
    const find = () => agent.received.find(({ request_id }) => request_id === requestId);
    await expect.poll(find).toBeDefined();
    return find() as JsonObject;
  };

  test('is shown as connected by all nodes', async () => {
    const health = async (node: Node) => {
      const { figures } = (await admin(node, '/admin/v1/agents?text=away')) as { figures: { health: string }[] };
      return figures.map((figure) => figure.health);
    };
    for (const node of cluster.nodes) await expect.poll(() => health(node)).toEqual(['ok']);
    for (const node of cluster.nodes)
      expect(await admin(node, '/admin/v1/overview')).toMatchObject({ agents_down: [] });
  });

  test('receives the credentials of a request to another node, which are recorded nowhere', async () => {
    const auth = {
      method_id: 'oauth',
      bearer_token: 'tok-of-the-caller',
      extra_headers: { 'x-key': 'key-of-the-caller' },
    };
    const sending = cluster.stream(one, ask('with-auth', { auth })).then(allFrames);
    expect(await received('with-auth')).toMatchObject({ auth });
    agent.complete('with-auth', { repeated: 'tok-of-the-caller' });
    expect(last(await sending)).toMatchObject({ body: { result: { repeated: '[redacted]' } } });
    expect(JSON.stringify(await admin(three, '/admin/v1/requests/with-auth'))).not.toContain('of-the-caller');
  });

  test('sends messages by itself to callers that listen at another node', async () => {
    const listener = await SocketClient.open(three.url, key);
    const session_id = 'pushed';
    const sending = cluster.stream(one, ask('before-pushes', { session_id })).then(allFrames);
    await received('before-pushes');
    agent.complete('before-pushes', {});
    await sending;
    const texts: string[] = [];
    listener.webSocket.on('message', (data) => texts.push(data.toString()));
    // They are not recorded: until the other node has said that it has listeners, they are lost.
    await expect
      .poll(() => {
        agent.push({ number: 0 }, { session_id });
        return texts.length;
      })
      .toBeGreaterThan(0);
    for (let number = 1; number <= 50; number += 1) agent.push({ number }, { session_id });
    const numbers = () => texts.map((text) => JSON.parse(text).body.delta.number as number);
    await expect.poll(() => numbers().at(-1)).toBe(50);
    expect(numbers().filter((number) => number > 0)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    listener.close();
  });

  test('has its request cancelled when the last reader leaves, at another node than the first, and not before', async () => {
    const channel_context = { cancel_on_disconnect: true };
    const sending = cluster.stream(one, ask('unread-away', { channel_context }));
    await received('unread-away');
    const say = (delta: string) =>
      agent.send({ request_id: 'unread-away', response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta } });
    say('first');
    const reading = await cluster.resume(three, 'unread-away', -1);
    (await sending).destroy();
    await longerThanAsked();
    expect(await state('unread-away')).toBe('started');
    say('second');
    for await (const frame of reading.frames()) if (frame.includes('second')) break;
    await expect.poll(() => state('unread-away')).toBe('finished');
    expect(last(await allFrames(await cluster.resume(two, 'unread-away', -1)))).toMatchObject({
      body: { code: 'E2A.CANCELLED' },
    });
  });
});

describe('a request that ends with its last reader', () => {
  const ask = (requestId: string) => ({
    ...{ request_id: requestId, method: 'chat.send', agent_ref: { id: 'held' }, params: {} },
    channel_context: { cancel_on_disconnect: true },
  });
  const firstFrame = async (answer: HttpAnswer) => {
    for await (const frame of answer.frames()) return frame;
    return undefined;
  };
  test('continues while another node has a reader, and stops when that one leaves', async () => {
    const sending = await cluster.stream(one, ask('unread'));
    const reading = await cluster.resume(two, 'unread', -1);
    const frames = reading.frames();
    await frames.next();
    sending.destroy();
    await longerThanAsked();
    expect(await state('unread')).toBe('started');
    reading.destroy();
    await expect.poll(() => state('unread')).toBe('finished');
  });

  test('ends at once when there is none', async () => {
    await firstFrame(await cluster.stream(one, ask('alone')));
    await expect.poll(() => state('alone')).toBe('finished');
  });
});

test('a program asks for a file of its caller, who answers at another node', async () => {
  const client_capabilities = { fs: { read_text_file: true, write_text_file: true } };
  const content = `call ${JSON.stringify({ method: 'fs/read_text_file', params: { path: '/project/a.txt' } })}`;
  const frames = (
    await cluster.stream(one, {
      ...{ request_id: 'files', method: 'chat.send', agent_ref: { id: 'coder' }, params: { content } },
      channel_context: { cwd: '/project', client_capabilities },
    })
  ).frames();
  let final = '';
  for await (const frame of frames) {
    final = frame;
    const { response_kind, body } = JSON.parse(frame);
    if (response_kind !== 'acp.output_request') continue;
    const params = { jsonrpc_id: body.id, response: { result: { content: 'of the caller' } } };
    const answer = { request_id: 'files-answer', method: 'acp.tool_response', params };
    expect(await cluster.post(two, '/e2a', answer)).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  }
  expect(final).toContain('of the caller');
});

describe('an agent that is connected to one node by A2A messages', () => {
  test('answers requests to the others', async () => {
    const agentKey = await keyOf('line-agent');
    const json = { agent_card: { ...CARD, agent_id: 'line-agent' }, endpoint: 'connection:' };
    const registered = await call(three.url, { method: 'POST', path: '/agents/register', key: agentKey, json });
    expect(registered.status, await registered.text()).toBe(201);
    const socket = new WebSocket(`${two.url.replace('http', 'ws')}/a2a/messages/ws`, {
      headers: { authorization: `Bearer ${agentKey}` },
    });
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as JsonObject;
      if (message['message_type'] !== 'request') return;
      const answer = {
        ...heading('response'),
        ...{ sender_id: 'line-agent', recipient_id: message['sender_id'], correlation_id: message['message_id'] },
        payload: { status: 'success', data: { over: 'the line' } },
      };
      socket.send(JSON.stringify(answer));
    });
    await once(socket, 'open');
    for (const node of cluster.nodes) {
      await expect
        .poll(async () => {
          const asked = { ...request({}), sender_id: 'client', recipient_id: 'line-agent' };
          return (await cluster.post(node, '/a2a/messages', asked)).body;
        })
        .toMatchObject({ message_type: 'response', payload: { status: 'success', data: { over: 'the line' } } });
    }
    socket.close();
  });
});

test('a connection of ACP over plain HTTP is refused by another node, which names the fix', async () => {
  const json = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } };
  const opened = await call(one.url, { method: 'POST', path: '/acp', key, json });
  const headers = { 'acp-connection-id': String(opened.headers['acp-connection-id']) };
  const message = { jsonrpc: '2.0', id: 2, method: 'session/list', params: {} };
  const ask = (node: Node) => call(node.url, { method: 'POST', path: '/acp', key, headers, json: message });
  expect((await ask(one)).status).toBe(202);
  const answer = await ask(two);
  expect(answer.status).toBe(421);
  expect(await answer.json()).toMatchObject({ code: 'other_node', suggestions: expect.any(Array) });
});
