import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { fresh } from './caller.ts';
import { DialledAgent } from './dialled-agent.ts';
import { agentModule, System } from './system.ts';

// Agents of their own that ask by their frames: the question is one of the hub, and its answer goes back to them.

const waiting = new Map<string, ServerResponse>();
const http = createServer(async (incoming, response) => {
  const { request_id, method, params } = JSON.parse(
    Buffer.concat(await incoming.toArray()).toString(),
  ) as JsonObject & {
    request_id: string;
    params: JsonObject & { request_id: string; content: JsonObject };
  };
  if (method === 'chat.user_answer' || method === 'acp.tool_response') {
    const waitingResponse = waiting.get(params.request_id);
    const frame = {
      request_id: params.request_id,
      response_kind: 'e2a.complete',
      body: { result: { method, params } },
    };
    waitingResponse?.end(`${JSON.stringify(frame)}\n`);
    response.writeHead(204).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  waiting.set(request_id, response);
  response.write(`${JSON.stringify({ request_id, ...params.content })}\n`);
});
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
const system = await System.start({
  config: {
    agents: {
      lines: { driver: 'stdio', command: process.execPath, args: [agentModule('asking-lines')] },
      posts: { driver: 'http', url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/` },
      dials: { driver: 'e2a-ws' },
    },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  http.close();
});
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'] } });
const { api_key: dialKey } = await system.caller('dials');
const agent = await DialledAgent.dial(system.url, dialKey);
afterAll(() => agent.close());

const PERMISSION = {
  response_kind: 'acp.output_request',
  body: { id: 'p1', method: 'session/request_permission', params: { toolCall: { title: 'Delete it?' }, options: [] } },
};
const CHOICE = {
  response_kind: 'e2a.chunk',
  body: {
    delta_kind: 'custom',
    event_type: 'chat.ask_user_question',
    delta: { question_id: 'c1', question: 'Which one?', options: ['left', 'right'] },
  },
};

async function waitingResponse(agentId: string, frame: JsonObject) {
  const id = fresh();
  const json = { request_id: id, agent_ref: { id: agentId }, method: 'chat.send', params: { content: frame } };
  const answer = call(system.url, { method: 'POST', path: '/e2a', key, json });
  if (agentId === 'dials') {
    await expect.poll(() => agent.received.some(({ method }) => method === 'chat.send')).toBe(true);
    const received = agent.received.splice(0).find(({ method }) => method === 'chat.send');
    agent.send({ ...frame, request_id: received?.request_id ?? '' });
  }
  const open = async () => {
    const listed = await call(system.url, { path: '/e2a/questions', key });
    return ((await listed.json()) as { questions: JsonObject[] }).questions.find((one) => one['request_id'] === id);
  };
  await expect.poll(open).toBeDefined();
  const question = (await open()) as JsonObject;
  const reply = (given: JsonObject) =>
    call(system.url, {
      method: 'POST',
      path: `/e2a/requests/${id}/questions/${question['question_id']}`,
      key,
      json: given,
    });
  const result = async () => {
    if (agentId === 'dials') {
      await expect.poll(() => agent.received.length).toBe(1);
      const [{ method, params }] = agent.received.splice(0) as unknown as [JsonObject & { params: JsonObject }];
      agent.complete(String(params['request_id']), { method: method ?? null, params });
    }
    return ((await (await answer).json()) as { body: { result: JsonObject } }).body.result;
  };
  return { question, reply, result };
}

test.each(['lines', 'posts', 'dials'])(
  'a permission request of %s is a question, and its answer is sent back',
  async (id) => {
    const { question, reply, result } = await waitingResponse(id, PERMISSION);
    expect(question).toMatchObject({
      kind: 'permission',
      title: 'Delete it?',
      agent_id: id,
      options: [{ id: 'allow' }, {}],
    });
    expect((await reply({ option_id: 'allow' })).status).toBe(200);
    expect(await result()).toMatchObject({
      method: 'acp.tool_response',
      params: {
        jsonrpc_id: 'p1',
        response: { id: 'p1', result: { outcome: { outcome: 'selected', optionId: 'allow' } } },
      },
    });
  },
);

test.each(['lines', 'posts', 'dials'])(
  'a question of %s to the user is a choice, and its answer is sent back',
  async (id) => {
    const { question, reply, result } = await waitingResponse(id, CHOICE);
    expect(question).toMatchObject({ kind: 'choice', title: 'Which one?' });
    await reply({ text: 'right' });
    expect(await result()).toMatchObject({
      method: 'chat.user_answer',
      params: { question_id: 'c1', option_id: 'right', answers: ['right'] },
    });
  },
);
