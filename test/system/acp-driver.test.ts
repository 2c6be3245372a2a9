import * as acp from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { Caller, expectOrdered, fresh, read } from './caller.ts';
import { agentModule, System } from './system.ts';

// An agent of the official SDK behind the server, reached through every way that can answer its permission request.

const system = await System.start({
  config: {
    default_agent: 'coder',
    agents: { coder: { driver: 'acp', command: process.execPath, args: [agentModule('acp-sdk-agent')] } },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent');
const ada = new Caller(system, key);

const open = async () => {
  const listed = await call(system.url, { path: '/e2a/questions', key });
  return ((await listed.json()) as { questions: JsonObject[] }).questions;
};

async function asked() {
  const id = fresh();
  const answer = await ada.post(
    { request_id: id, method: 'chat.send', params: { content: 'edit' }, is_stream: true },
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
    const { id, question, rest } = await asked();
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
    const { question, rest } = await asked();
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
        const told = updates.map(({ update }) => update.sessionUpdate);
        expect(told).toEqual([
          'agent_message_chunk',
          'tool_call',
          'tool_call_update',
          'tool_call_update',
          'agent_message_chunk',
        ]);
      });
  });

  test('is withdrawn when its request is cancelled', async () => {
    const { id, rest } = await asked();
    await ada.cancel(id);
    expect((await rest).at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
    expect(await open()).toEqual([]);
  });
});

test('an answer in one piece has the whole text', async () => {
  const answer = ada.post({ request_id: fresh(), method: 'chat.send', params: { content: 'edit' } });
  await expect.poll(open).toHaveLength(1);
  const [question = {}] = await open();
  await ada.rpc('chat.user_answer', { question_id: String(question['question_id']), action: 'decline' });
  expect(await (await answer).json()).toMatchObject({ body: { result: { text: 'I will edit. Left alone.' } } });
});
