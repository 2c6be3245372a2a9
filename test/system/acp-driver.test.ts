import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import * as acp from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { NETWORK_TRANSPORTS } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { call } from './call.ts';
import { Caller, expectOrdered, fresh, read } from './caller.ts';
import { agentModule, System } from './system.ts';
import { WireCaller } from './wire-caller.ts';

// An agent of the official SDK behind the server, reached through every way that can answer its permission request.

const remote = spawn(process.execPath, [agentModule('acp-sdk-agent'), 'serve'], { stdio: ['pipe', 'pipe', 'inherit'] });
const [port] = await once(createInterface({ input: remote.stdout }), 'line');
const system = await System.start({
  config: {
    default_agent: 'coder',
    agents: {
      coder: { driver: 'acp', command: process.execPath, args: [agentModule('acp-sdk-agent')] },
      'coder-ws': { driver: 'acp', url: `ws://127.0.0.1:${port}/acp` },
      'coder-http': { driver: 'acp', url: `http://127.0.0.1:${port}/acp` },
      'coder-gone': { driver: 'acp', url: 'ws://127.0.0.1:9/acp' },
    },
    wire: { port: 0 },
    mailbox: { requests_per_minute: 1000, answer_within_ms: 20_000 },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  remote.kill('SIGKILL');
});
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'], tools: ['*'] } });
const ada = new Caller(system, key);

const connect = NETWORK_TRANSPORTS['tcp'];
if (connect === undefined) throw new Error('there is no TCP');
const wirePlace = { url: system.url, wire: { url: system.wireUrl, socket: undefined } };
const wire = await new WireCaller(await connect(wirePlace, key)).greet(key);
afterAll(() => wire[Symbol.asyncDispose]());

const open = async () => {
  const listed = await call(system.url, { path: '/e2a/questions', key });
  return ((await listed.json()) as { questions: JsonObject[] }).questions;
};

async function askAgent(agent = 'coder') {
  const id = fresh();
  const answer = await ada.post(
    { request_id: id, method: 'chat.send', params: { content: 'edit' }, is_stream: true, agent_ref: { id: agent } },
    { accept: 'application/x-ndjson' },
  );
  const rest = (async () => {
    const frames = [];
    for await (const text of answer.frames()) frames.push(read(text));
    return frames;
  })();
  await expect.poll(open).toHaveLength(1);
  const [question = {}] = await open();
  return { id, question, rest };
}

describe('the permission request of an ACP agent', () => {
  test('is a question on E2A with the tool it is about, answered over HTTP', async () => {
    const { id, question, rest } = await askAgent();
    expect(question).toMatchObject({
      kind: 'permission',
      title: 'Edit config.json',
      subject: { type: 'tool_call', tool_call_id: 'call-1', tool_kind: 'edit' },
      options: [{ id: 'go' }, { id: 'stop' }],
    });
    const path = `/e2a/requests/${id}/questions/${question['question_id']}`;
    await call(system.url, { method: 'POST', path, key, json: { option_id: 'go' } });
    const frames = await rest;
    expectOrdered(frames);
    expect(frames.at(-1)?.body['result']).toEqual({ text: 'I will edit. Edited.' });
  });

  test('is answered over the E2A WebSocket', async () => {
    const { question, rest } = await askAgent();
    const socket = await ada.socket();
    const params = { question_id: String(question['question_id']), option_id: 'stop' };
    await socket.ask({ request_id: fresh(), method: 'chat.user_answer', params });
    socket.close();
    expect((await rest).at(-1)?.body['result']).toEqual({ text: 'I will edit. Left alone.' });
  });

  test('reaches an editor as its own, and the answer goes back', async () => {
    const updates: acp.SessionNotification[] = [];
    const stream = createWebSocketStream(`${system.url.replace('http', 'ws')}/acp`, {
      WebSocket: WebSocket as never,
      headers: { authorization: `Bearer ${key}` },
    });
    await acp
      .client({ name: 'editor' })
      .onNotification(acp.methods.client.session.update, ({ params }) => {
        updates.push(params);
      })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
        expect(params).toMatchObject({
          toolCall: { toolCallId: 'call-1', kind: 'edit' },
          options: [{ optionId: 'go' }, {}],
        });
        return { outcome: { outcome: 'selected', optionId: 'go' } };
      })
      .connectWith(stream, async (context) => {
        await context.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
        const { sessionId } = await context.request(acp.methods.agent.session.new, { cwd: '/tmp', mcpServers: [] });
        const prompt = [{ type: 'text' as const, text: 'edit' }];
        const ended = await context.request(acp.methods.agent.session.prompt, { sessionId, prompt });
        expect(ended).toEqual({ stopReason: 'end_turn' });
        expect(updates.every((one) => one.sessionId === sessionId)).toBe(true);
        const kinds = updates.map(({ update }) => update.sessionUpdate);
        expect(kinds).toEqual([
          'agent_message_chunk',
          'tool_call',
          'tool_call_update',
          'tool_call_update',
          'agent_message_chunk',
        ]);
      });
  });

  test('is withdrawn when its request is cancelled', async () => {
    const { id, rest } = await askAgent();
    await ada.cancel(id);
    expect((await rest).at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
    expect(await open()).toEqual([]);
  });
});

/** Answers the one question that is open. */
async function answerOpen(optionId: string): Promise<void> {
  await expect.poll(open, { timeout: 10_000 }).toHaveLength(1);
  const [question = {}] = await open();
  const path = `/e2a/requests/${question['request_id']}/questions/${question['question_id']}`;
  await call(system.url, { method: 'POST', path, key, json: { option_id: optionId } });
}

describe.each(['coder-ws', 'coder-http'])('the same agent on a server of the official SDK: %s', (agent) => {
  test('streams, asks and continues', async () => {
    const { rest } = await askAgent(agent);
    await answerOpen('go');
    const frames = await rest;
    expectOrdered(frames);
    expect(frames.at(-1)?.body['result']).toEqual({ text: 'I will edit. Edited.' });
  });

  test('is cancelled, and answers the next prompt of the session', async () => {
    const id = fresh();
    const session_id = `of-${agent}`;
    const held = ada.post({
      ...{ request_id: id, method: 'chat.send', session_id, params: { content: 'hold' }, is_stream: true },
      agent_ref: { id: agent },
    });
    await expect.poll(() => ada.resumeNow(id).catch(() => []), { timeout: 10_000 }).not.toEqual([]);
    await ada.cancel(id);
    await (await held).text();
    const next = ada.post({
      ...{ request_id: fresh(), method: 'chat.send', session_id, params: { content: 'edit' } },
      agent_ref: { id: agent },
    });
    await answerOpen('go');
    expect(await (await next).json()).toMatchObject({ body: { result: { text: 'I will edit. Edited.' } } });
  });
});

test('a server that is not there is a clear error', async () => {
  const frame = await (
    await ada.post({ request_id: fresh(), method: 'chat.send', params: {}, agent_ref: { id: 'coder-gone' } })
  ).json();
  expect(frame).toMatchObject({
    body: { code: 'E2A.AGENT_ERROR', message: expect.stringContaining('cannot be reached') },
  });
});

/** Over each protocol: requests an edit, and resolves with its result. */
const PROTOCOLS: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  E2A: async () => {
    const answer = ada.post({ request_id: fresh(), method: 'chat.send', params: { content: 'edit' } });
    return async () => (await answer).json();
  },
  'the mailbox': async () => {
    const threadId = fresh();
    const question = await post({ to: 'coder', message: 'edit', metadata: { threadId, messageId: `${threadId}-m` } });
    expect(question).toMatchObject({ metadata: { question: { title: 'Edit config.json' } } });
    return async () => (await call(system.url, { path: `/a2a/threads/${threadId}`, key })).json();
  },
  'A2A messages': async () => {
    const message = {
      message_id: randomUUID(),
      message_type: 'request',
      sender_id: 'ada-agent',
      recipient_id: 'coder',
      timestamp: new Date().toISOString(),
      correlation_id: null,
      payload: { method: 'chat.send', parameters: { content: 'edit' } },
    };
    const ask = async () =>
      (await call(system.url, { method: 'POST', path: '/a2a/messages', key, json: message })).json();
    expect(await ask()).toMatchObject({ payload: { method: 'answer_question' } });
    return ask;
  },
  'the wire': async () => {
    const id = wire.call('coder', { content: 'edit' }, { streaming: true, durable: true });
    const answered = wire.upTo(id);
    return async () => (await answered).at(-1);
  },
};

/** Answers the question from each place. */
const ANSWERED_FROM: Readonly<Record<string, (question: JsonObject) => Promise<void>>> = {
  'the HTTP route': async ({ request_id, question_id }) => {
    const path = `/e2a/requests/${request_id}/questions/${question_id}`;
    expect((await call(system.url, { method: 'POST', path, key, json: { option_id: 'go' } })).status).toBe(200);
  },
  'the E2A WebSocket': async ({ question_id = '' }) => {
    const socket = await ada.socket();
    await socket.ask({ request_id: fresh(), method: 'chat.user_answer', params: { question_id, option_id: 'go' } });
    socket.close();
  },
  'a mailbox reply': async ({ question_id = '' }) => {
    await post({ message: 'go', metadata: { messageId: fresh(), replyTo: question_id } });
  },
  'the command line': async ({ question_id }) => {
    const words = ['questions', 'answer', String(question_id), 'go', '--url', system.url];
    const env = { PATH: process.env['PATH'] ?? '', DRAGOMAN_KEY: key };
    const child = spawn(process.execPath, [system.command, ...words], { stdio: 'ignore', env });
    expect((await once(child, 'exit'))[0]).toBe(0);
  },
};

async function post(json: JsonObject): Promise<JsonObject> {
  const answer = await call(system.url, { method: 'POST', path: '/a2a', key, json: { from: 'Ada', ...json } });
  return (await answer.json()) as JsonObject;
}

describe.each(Object.keys(PROTOCOLS))('the same agent answers over %s', (protocol) => {
  test.each(Object.keys(ANSWERED_FROM))('with its permission given from %s', { timeout: 60_000 }, async (place) => {
    const answered = await PROTOCOLS[protocol]?.();
    await expect.poll(open, { timeout: 30_000 }).toHaveLength(1);
    const [question = {}] = await open();
    await ANSWERED_FROM[place]?.(question);
    const answerText = async () => JSON.stringify(await answered?.());
    await expect.poll(answerText, { timeout: 30_000 }).toContain('I will edit. Edited.');
  });
});

test('an answer in one piece has the whole text', async () => {
  const answer = ada.post({ request_id: fresh(), method: 'chat.send', params: { content: 'edit' } });
  await expect.poll(open).toHaveLength(1);
  const [question = {}] = await open();
  await ada.rpc('chat.user_answer', { question_id: String(question['question_id']), action: 'decline' });
  expect(await (await answer).json()).toMatchObject({ body: { result: { text: 'I will edit. Left alone.' } } });
});
