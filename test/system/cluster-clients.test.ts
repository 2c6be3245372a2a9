import { randomUUID } from 'node:crypto';
import { type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { heading, request } from './a2a-peer.ts';
import { call } from './call.ts';
import { ClusterSystem } from './cluster-system.ts';
import { RoundRobin } from './round-robin.ts';
import { agentModule, moduleAgent } from './system.ts';

// Three real nodes behind a load balancer that sends each request to the next one: clients notice nothing.

const cluster = await ClusterSystem.start(3, {
  default_agent: 'asker',
  agents: {
    asker: moduleAgent('asker'),
    echo: moduleAgent('echo'),
    forms: moduleAgent('form-asker'),
    historian: moduleAgent('historian'),
  },
  tools: [agentModule('work-tool')],
});
const balancer = await RoundRobin.start(cluster.nodes);
afterAll(async () => {
  await balancer[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});
const { url } = balancer;
const { key } = cluster;
const [one, two, three] = cluster.nodes as [
  (typeof cluster.nodes)[0],
  (typeof cluster.nodes)[0],
  (typeof cluster.nodes)[0],
];

const ERAS = { 'in a session': {}, '2026-07-28': { versionNegotiation: { mode: { pin: '2026-07-28' } } } } as const;
const ask = (agent: string, more: object = {}) => ({ name: `ask_${agent}`, arguments: { prompt: 'go', ...more } });

describe.each(Object.keys(ERAS) as (keyof typeof ERAS)[])('an MCP client, %s', (era) => {
  async function connected(choice: string | undefined) {
    const capabilities = choice === undefined ? {} : { elicitation: { form: {} } };
    const client = new Client({ name: 'test-client', version: '1.0.0' }, { ...ERAS[era], capabilities });
    if (choice !== undefined) {
      const answer = { action: 'accept' as const, content: { choice } };
      client.setRequestHandler('elicitation/create', () => answer);
    }
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
    return client;
  }

  test('lists tools, calls agents and continues a conversation', async () => {
    const client = await connected(undefined);
    for (let count = 0; count < 3; count += 1) {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('ask_echo');
    }
    const session = `mcp-${era}`.replaceAll(' ', '-');
    await client.callTool(ask('historian', { session }));
    await client.callTool(ask('historian', { session }));
    const { structuredContent } = await client.callTool(ask('historian', { session }));
    const { text } = structuredContent as { text: string };
    expect(text.match(/: go/g)).toHaveLength(3);
    await client.close();
  });

  test('has its user answer a question', async () => {
    const client = await connected('allow');
    for (let count = 0; count < 3; count += 1) {
      const { structuredContent } = await client.callTool(ask('asker'));
      expect(structuredContent).toMatchObject({ status: 'completed', text: 'one momentanswered: allow' });
    }
    await client.close();
  });

  test('shows a question to its model, which answers it', async () => {
    const client = await connected(undefined);
    const { structuredContent } = await client.callTool(ask('forms'));
    const { request_id, question } = structuredContent as { request_id: string; question: { question_id: string } };
    const answer = { request_id, question_id: question.question_id, content: { name: 'Eve' } };
    expect((await client.callTool({ name: 'answer_question', arguments: answer })).structuredContent).toMatchObject({
      text: 'Hello Eve',
    });
    expect((await client.callTool({ name: 'get_answer', arguments: { request_id } })).structuredContent).toMatchObject({
      text: 'Hello Eve',
    });
    await client.close();
  });

  test('cancels a call', async () => {
    const client = await connected(undefined);
    const stop = new AbortController();
    const requestId = `mcp-cancel-${era.length}`;
    const _meta = { 'dragoman/request_id': requestId };
    const calling = client.callTool({ name: 'work', arguments: { mode: 'hold' }, _meta }, { signal: stop.signal });
    const refused = expect(calling).rejects.toThrow();
    const frames = async () => (await cluster.resume(two, requestId, -1)).status;
    await expect.poll(frames).toBe(200);
    stop.abort();
    await refused;
    await expect.poll(async () => (await last(requestId)).body).toMatchObject({ code: 'E2A.CANCELLED' });
    await client.close();
  });
});

describe('a client of Linux Foundation A2A', () => {
  const fetchImpl: typeof fetch = (input, options = {}) => {
    const headers = new Headers(options.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...options, headers });
  };
  const message = (text: string, { taskId = '', contextId = '' } = {}): SendMessageRequest => ({
    tenant: '',
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: randomUUID(),
      contextId,
      taskId,
      role: 1,
      parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: '', metadata: undefined }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  });
  const client = () => {
    const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
    return new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })], cardResolver }).createFromUrl(
      url,
    );
  };
  const listed = async (node: typeof one, status: string) => {
    const json = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { status } };
    const headers = { 'a2a-version': '1.0' };
    const answer = await call(node.url, { method: 'POST', path: '/lf-a2a', key, json, headers });
    const { result } = (await answer.json()) as { result: { tasks: { id: string }[] } };
    return result.tasks.map(({ id }) => id);
  };

  test('answers the question of its task, which every node lists as waiting', async () => {
    const a2a = await client();
    const stopped = (await a2a.sendMessage(message('go'))) as Task;
    expect(stopped.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    for (const node of cluster.nodes) {
      expect(await listed(node, 'TASK_STATE_INPUT_REQUIRED')).toContain(stopped.id);
      expect(await listed(node, 'TASK_STATE_WORKING')).not.toContain(stopped.id);
    }
    const done = (await a2a.sendMessage(message('Allow', { taskId: stopped.id }))) as Task;
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(JSON.stringify(done.artifacts)).toContain('one momentanswered: allow');
  });
});

describe('a client of the OpenAI API', () => {
  test('continues a response', async () => {
    const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
    let previous_response_id: string | undefined;
    for (let count = 0; count < 3; count += 1) {
      const input = `turn ${count}`;
      const response = await client.responses.create({
        model: 'historian',
        input,
        ...(previous_response_id !== undefined && { previous_response_id }),
      });
      expect(response.output_text).toContain(count === 0 ? '' : `: turn ${count - 1}`);
      previous_response_id = response.id;
    }
  });
});

describe('a question that one node asks', () => {
  const open = async (node: typeof one, path = '/e2a/questions', as = key) => {
    const answer = await call(node.url, { path, key: as });
    return ((await answer.json()) as { questions: { request_id: string; question_id: string }[] }).questions;
  };

  test('is answered by a reply in the mailbox at another, and read there', async () => {
    const post = async (node: typeof one, content: string, metadata: object) =>
      (
        await cluster.post(node, '/a2a', {
          version: '0.3.0',
          from: { name: 'client' },
          message: { contentType: 'text/plain', content },
          metadata,
        })
      ).body as JsonObject & { messageId: string };
    const question = await post(one, 'go', { threadId: 'thread-1', messageId: 'mail-1' });
    expect(question).toMatchObject({ metadata: { status: 'input_required' } });
    // The same message at another node gets the same question.
    expect(await post(two, 'go', { threadId: 'thread-1', messageId: 'mail-1' })).toMatchObject({
      messageId: question.messageId,
    });
    const found = await call(three.url, { path: '/a2a/messages/mail-1', key });
    expect(await found.json()).toMatchObject({ messageId: question.messageId });
    const reply = await post(three, 'allow', {
      threadId: 'thread-1',
      messageId: 'mail-2',
      replyTo: question.messageId,
    });
    expect(JSON.stringify(reply)).toContain('allow');
    const ended = await call(two.url, { path: '/a2a/messages/mail-1', key });
    expect(await ended.json()).toMatchObject({ message: { content: { answer: { option_id: 'allow' } } } });
  });

  test('is answered by an A2A message at another', async () => {
    const post = async (node: typeof one, json: JsonObject) =>
      (await cluster.post(node, '/a2a/messages', { ...json, sender_id: 'client' })).body as JsonObject & {
        message_id: string;
      };
    const asked: JsonObject = { ...request({}), recipient_id: 'asker' };
    const question = await post(one, asked);
    expect(question).toMatchObject({ payload: { method: 'answer_question' } });
    expect((await post(three, asked)).message_id).toBe(question.message_id);
    const end = await post(two, {
      ...heading('response'),
      recipient_id: 'asker',
      correlation_id: question.message_id,
      payload: { status: 'success', data: { option_id: 'allow' } },
    });
    expect(end).toMatchObject({
      correlation_id: asked['message_id'],
      payload: { data: { answer: { option_id: 'allow' } } },
    });
  });

  test('is listed by every node while it is open, and when it has ended', async () => {
    const sending = cluster.stream(one, {
      request_id: 'listed',
      method: 'chat.send',
      agent_ref: { id: 'asker' },
      params: { content: {} },
    });
    await expect.poll(async () => (await open(three)).at(-1)).toMatchObject({ request_id: 'listed' });
    const question = (await open(two, '/admin/v1/questions', one.adminKey)).at(-1);
    const path = `/admin/v1/questions/${question?.question_id}`;
    const answered = await call(three.url, { method: 'POST', path, key: one.adminKey, json: { option_id: 'reject' } });
    expect(answered.status).toBe(200);
    (await sending).destroy();
    for (const node of cluster.nodes) {
      expect(await open(node)).toEqual([]);
      const [latest] = await open(node, '/e2a/questions?state=ended');
      expect(latest).toMatchObject({ request_id: 'listed', answer: { option_id: 'reject' } });
    }
  });
});

/** The final frame of a request of the client. */
async function last(requestId: string): Promise<JsonObject> {
  const answer = await call(three.url, { path: `/e2a/requests/${requestId}/responses`, key });
  const { responses } = (await answer.json()) as { responses: JsonObject[] };
  return responses.at(-1) ?? {};
}
