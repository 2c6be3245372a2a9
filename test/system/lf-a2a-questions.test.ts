import { randomUUID } from 'node:crypto';
import { type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { A2AClient } from '@a2a-js/sdk-0.3/client';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

// Agents that ask a question while they answer a client of Linux Foundation A2A.

const system = await System.start({
  config: { default_agent: 'asker', agents: { asker: moduleAgent('asker'), forms: moduleAgent('form-asker') } },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent');
const { api_key: otherKey } = await system.caller('bob-agent');

const fetchImpl: typeof fetch = (input, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set('authorization', `Bearer ${key}`);
  return fetch(input, { ...options, headers });
};

describe.each([
  ['JSON-RPC', new JsonRpcTransportFactory({ fetchImpl })],
  ['HTTP+JSON', new RestTransportFactory({ fetchImpl })],
])('the official JavaScript SDK 1.3.0 over %s', (_, transport) => {
  const client = () => {
    const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
    return new ClientFactory({ transports: [transport], cardResolver }).createFromUrl(system.url);
  };
  const message = (text: string, taskId = ''): SendMessageRequest => ({
    tenant: '',
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: randomUUID(),
      contextId: '',
      taskId,
      role: 1,
      parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: '', metadata: undefined }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  });

  test('gets the question, answers it, and gets the rest', async () => {
    const a2a = await client();
    const stopped = (await a2a.sendMessage(message('go'))) as Task;
    expect(stopped.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(JSON.stringify(stopped.status?.message)).toContain('May I?');
    const done = (await a2a.sendMessage(message('Allow', stopped.id))) as Task;
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(JSON.stringify(done.artifacts)).toContain('one momentanswered: allow');
    expect(done.history).toHaveLength(3);
  });

  test('the stream ends with the question, and that of the answer continues', async () => {
    const a2a = await client();
    let taskId = '';
    const states: unknown[] = [];
    for await (const { payload } of a2a.sendMessageStream(message('go'))) {
      if (payload?.$case === 'task') taskId = payload.value.id;
      if (payload?.$case === 'statusUpdate') states.push(payload.value.status?.state);
    }
    expect(states).toEqual([TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_INPUT_REQUIRED]);
    const rest: string[] = [];
    for await (const { payload } of a2a.sendMessageStream(message('reject', taskId))) rest.push(payload?.$case ?? '');
    expect([rest[0], rest.at(-1)]).toEqual(['task', rest.length === 1 ? 'task' : 'statusUpdate']);
    const task = await a2a.getTask({ tenant: '', id: taskId, historyLength: undefined });
    expect(JSON.stringify(task.artifacts)).toContain('answered: reject');
  });
});

test('the official JavaScript SDK 0.3.14 gets the question, answers it, and gets the rest', async () => {
  const a2a = await A2AClient.fromCardUrl(`${system.url}/.well-known/agent-card.json`, { fetchImpl });
  const message = (text: string, taskId?: string) => ({
    message: {
      kind: 'message' as const,
      messageId: randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
      ...(taskId !== undefined && { taskId }),
    },
  });
  const events = [];
  for await (const event of a2a.sendMessageStream(message('go'))) events.push(event);
  expect(events.at(-1)).toMatchObject({ kind: 'status-update', final: true, status: { state: 'input-required' } });
  const [task] = events as { id: string }[];
  expect(await a2a.sendMessage(message('1', task?.id))).toMatchObject({
    result: { kind: 'task', status: { state: 'completed' } },
  });
});

type Part = Record<string, unknown>;
interface Shown {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly Part[] } };
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[];
  readonly history?: readonly { readonly role: string; readonly parts: readonly Part[] }[];
}
const rpc = async (method: string, params: unknown, { agent = 'asker', by = key } = {}) => {
  const json = { jsonrpc: '2.0', id: 1, method, params };
  const answer = await call(system.url, { method: 'POST', path: `/lf-a2a/agents/${agent}`, key: by, json });
  return (await answer.json()) as {
    result: { task: Shown; tasks: Shown[]; totalSize: number };
    error?: { code: number; message: string; data: unknown[] };
  };
};
const send = (parts: readonly Part[], fields: object = {}, options = {}) =>
  rpc('SendMessage', { message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...fields } }, options);
const stateOf = async (id: string, agent = 'asker') => (await rpc('GetTask', { id }, { agent })).result;
const ask = async (agent = 'asker', parts: readonly Part[] = [{ text: 'go' }]) =>
  (await send(parts, {}, { agent })).result.task;

describe('an answer', () => {
  test('the question is a text that stands alone, and data with all of it', async () => {
    const { status } = await ask();
    expect(status.message?.parts).toEqual([
      { text: 'May I?\n1. Allow (allow)\n2. Reject (reject)\nAnswer with one of: allow, reject.' },
      { data: expect.objectContaining({ kind: 'permission', title: 'May I?', options: expect.any(Array) }) },
    ]);
  });

  test.each<[string, Part]>([
    ['the id of an option', { text: 'allow' }],
    ['its name', { text: ' ALLOW ' }],
    ['its number', { text: '1' }],
    ['data with the option', { data: { option_id: 'allow' } }],
    ['data with the choice of a form', { data: { content: { choice: 'allow' } } }],
    ['data that is a text', { data: 'allow' }],
  ])('to a permission can be %s', async (_, part) => {
    const { id, contextId } = await ask();
    const { result } = await send([part], { taskId: id, contextId });
    expect(JSON.stringify(result.task.artifacts)).toContain('answered: allow');
  });

  test.each<[string, Part, string]>([
    ['its data', { data: { name: 'Ada' } }, 'Hello Ada'],
    ['an answer as E2A writes it', { data: { action: 'accept', content: { name: 'Ada' } } }, 'Hello Ada'],
    ['the text of its only field', { text: 'Ada' }, 'Hello Ada'],
    ['decline', { text: 'decline' }, 'It was decline'],
  ])('to a form can be %s', async (_, part, text) => {
    const { id } = await ask('forms');
    const { result } = await send([part], { taskId: id }, { agent: 'forms' });
    expect(result.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text }] }],
    });
  });

  test('the history has the question and the answer', async () => {
    const { id } = await ask('forms');
    const { result } = await send([{ data: { name: 'Ada' } }], { taskId: id }, { agent: 'forms' });
    expect(result.task.history?.map(({ role, parts }) => [role, parts.at(-1)])).toEqual([
      ['ROLE_USER', { text: 'go' }],
      ['ROLE_AGENT', { data: expect.objectContaining({ title: 'What is your name?' }) }],
      ['ROLE_USER', { data: { name: 'Ada' } }],
    ]);
  });

  test.each<[string, Part[], string]>([
    ['no option', [{ text: 'maybe' }], 'Answer with one of: allow, reject.'],
    ['data with an unknown option', [{ data: { option_id: 'alow' } }], 'option_id must be one of allow, reject'],
    ['data with nothing of it', [{ data: { mood: 'good' } }], 'Answer with one of: allow, reject.'],
    ['a file', [{ url: 'https://files.example.com/a' }], 'Answer with one of: allow, reject.'],
  ])('that names %s is refused with what to send, and the question stays open', async (_, parts, help) => {
    const { id } = await ask();
    const { error } = await send(parts, { taskId: id });
    expect([error?.code, error?.message]).toEqual([-32602, expect.stringContaining(help)]);
    expect(JSON.stringify(error?.data)).toContain('"field":"message.parts"');
    expect(await stateOf(id)).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    await send([{ text: 'reject' }], { taskId: id });
  });

  test('from another caller, or with another context, is refused', async () => {
    const { id } = await ask();
    expect((await send([{ text: 'allow' }], { taskId: id }, { by: otherKey })).error?.code).toBe(-32001);
    expect((await send([{ text: 'allow' }], { taskId: id, contextId: 'other' })).error?.code).toBe(-32602);
    await send([{ text: 'allow' }], { taskId: id });
    expect((await send([{ text: 'allow' }], { taskId: id })).error?.code).toBe(-32004);
  });

  test('given through another protocol lets the task continue', async () => {
    const { id, status } = await ask();
    const [, { data } = {}] = status.message?.parts ?? [];
    const path = `/e2a/requests/${id}/questions/${(data as { question_id: string }).question_id}`;
    const subscribed = await call(system.url, { path: `/lf-a2a/agents/asker/tasks/${id}:subscribe`, key });
    const events = subscribed.events();
    expect(JSON.parse((await events.next()).value?.data ?? '')).toMatchObject({
      task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
    });
    expect((await call(system.url, { method: 'POST', path, key, json: { option_id: 'allow' } })).status).toBe(200);
    const states: unknown[] = [];
    for await (const event of events) states.push(JSON.parse(event.data).statusUpdate?.status.state);
    expect([states[0], states.at(-1)]).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });
});

test('a stream that is resumed after the answer has the question and everything behind it', async () => {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] };
  const path = '/lf-a2a/agents/asker/message:stream';
  const first = await call(system.url, { method: 'POST', path, key, json: { message } });
  const seen: { id: string; data: string }[] = [];
  for await (const event of first.events()) seen.push(event);
  const { id } = JSON.parse(seen[0]?.data ?? '').task;
  await send([{ text: 'allow' }], { taskId: id });
  const headers = { 'last-event-id': 'task' };
  const again = await call(system.url, { path: `/lf-a2a/agents/asker/tasks/${id}:subscribe`, key, headers });
  const all: { id: string; data: string }[] = [];
  for await (const event of again.events()) all.push(event);
  expect(all.slice(0, seen.length - 1)).toEqual(seen.slice(1));
  expect(all.map(({ data }) => JSON.parse(data).statusUpdate?.status.state).filter(Boolean)).toEqual([
    'TASK_STATE_WORKING',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
  ]);
});

test('a sign-in is AUTH_REQUIRED: a blocking call returns, and a stream continues by itself', async () => {
  const question = { kind: 'auth', title: 'Sign in', url: 'https://login.example.com/' };
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data: { question } }] };
  const path = '/lf-a2a/agents/asker/message:stream';
  const stream = await call(system.url, { method: 'POST', path, key, json: { message } });
  const states: unknown[] = [];
  for await (const { data } of stream.events()) {
    const { status } = JSON.parse(data).statusUpdate ?? {};
    if (status === undefined) continue;
    states.push(status.state);
    if (status.state !== 'TASK_STATE_AUTH_REQUIRED') continue;
    // The same message again, without a stream: the same task.
    const { task } = (await rpc('SendMessage', { message })).result;
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(JSON.stringify(task.status.message)).toContain('https://login.example.com/');
    const json = { action: 'accept' };
    const answer = `/e2a/requests/${task.id}/questions/${status.message.parts[1].data.question_id}`;
    await call(system.url, { method: 'POST', path: answer, key, json });
  }
  expect(states).toEqual([
    'TASK_STATE_WORKING',
    'TASK_STATE_AUTH_REQUIRED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
  ]);
});

test('tasks that wait are listed as such, with the time of their question', async () => {
  const contextId = randomUUID();
  const before = new Date().toISOString();
  const { task } = (await send([{ text: 'go' }], { contextId })).result;
  const list = async (more: object) => (await rpc('ListTasks', { contextId, ...more })).result;
  expect(await list({ status: 'TASK_STATE_INPUT_REQUIRED', statusTimestampAfter: before })).toMatchObject({
    tasks: [{ id: task.id, status: task.status }],
    totalSize: 1,
  });
  for (const status of ['TASK_STATE_WORKING', 'TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_COMPLETED']) {
    expect([status, (await list({ status })).totalSize]).toEqual([status, 0]);
  }
  await rpc('CancelTask', { id: task.id });
  expect((await list({ status: 'TASK_STATE_INPUT_REQUIRED' })).totalSize).toBe(0);
  expect(await stateOf(task.id)).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
});
