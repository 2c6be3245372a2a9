import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { modern, post } from './mcp-caller.ts';
import { agentModule, moduleAgent, System } from './system.ts';

const system = await System.start({
  config: {
    agents: { asker: moduleAgent('asker'), forms: moduleAgent('form-asker'), hasty: moduleAgent('hasty-asker') },
    tools: [agentModule('work-tool')],
    tool_approvals: [{ tools: 'work', approval: 'always' }],
    mcp_servers: {
      asking: {
        command: process.execPath,
        args: [fileURLToPath(new URL('./peers/asking-server.mjs', import.meta.url))],
      },
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent', { permissions: { agents: ['*'], tools: ['*'] } });
const { api_key: otherKey } = await system.caller('bob-agent', { permissions: { agents: ['*'] } });

interface Question {
  readonly message: string;
  readonly requestedSchema?: { readonly properties: object };
}
type Answer = { action: 'accept'; content: Record<string, string> } | { action: 'decline' | 'cancel' };

const ERAS = { 'in a session': {}, '2026-07-28': { versionNegotiation: { mode: { pin: '2026-07-28' } } } } as const;

async function connected(
  era: keyof typeof ERAS,
  answer: ((elicitation: Question) => Answer | Promise<never>) | undefined,
) {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test-client', version: '1.0.0' }, { ...ERAS[era], capabilities });
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params as unknown as Question));
  }
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', system.url), { requestInit }));
  return client;
}

const ask = (agent: string, more: object = {}) => ({ name: `ask_${agent}`, arguments: { prompt: 'go', ...more } });

describe.each(Object.keys(ERAS) as (keyof typeof ERAS)[])('a client that shows questions, %s', (era) => {
  test.each([
    [{ action: 'accept', content: { choice: 'allow' } } as const, 'one momentanswered: allow'],
    [{ action: 'accept', content: { choice: 'reject' } } as const, 'one momentanswered: reject'],
    [{ action: 'decline' } as const, 'one momentanswered: decline'],
  ])('lets its user consent or not: %j', async (answer, text) => {
    const received: Question[] = [];
    const client = await connected(era, (elicitation) => {
      received.push(elicitation);
      return answer;
    });
    expect((await client.callTool(ask('asker'))).structuredContent).toMatchObject({ status: 'completed', text });
    expect(received).toMatchObject([
      { message: 'May I?', requestedSchema: { properties: { choice: { type: 'string' } } } },
    ]);
    await client.close();
  });

  test('has its user fill in a form', async () => {
    const client = await connected(era, () => ({ action: 'accept', content: { name: 'Ada' } }));
    expect((await client.callTool(ask('forms'))).structuredContent).toMatchObject({ text: 'Hello Ada' });
    await client.close();
  });

  test('passes on what a tool of an MCP server asks', async () => {
    const received: Question[] = [];
    const client = await connected(era, (elicitation) => {
      received.push(elicitation);
      return { action: 'accept', content: { firstName: 'Ada' } };
    });
    const answered = await client.callTool({ name: 'asking__register', arguments: {} });
    expect(answered).toMatchObject({ content: [{ text: 'accept Ada' }] });
    expect(received).toMatchObject([{ message: 'Which name?', requestedSchema: { required: ['firstName'] } }]);
    await client.close();
  });

  test('shows the arguments of a call that needs approval', async () => {
    const received: Question[] = [];
    const client = await connected(era, (elicitation) => {
      received.push(elicitation);
      return { action: 'accept', content: { choice: 'allow' } };
    });
    await client.callTool({ name: 'work', arguments: { mode: 'work' } });
    expect(received).toMatchObject([{ message: 'Call the tool work?\n\n{"mode":"work"}' }]);
    await client.close();
  });
});

describe.each(Object.keys(ERAS) as (keyof typeof ERAS)[])('a client that shows none, %s', (era) => {
  test('receives the question, and its model may answer a form', async () => {
    const client = await connected(era, undefined);
    const { structuredContent } = await client.callTool(ask('forms'));
    expect(structuredContent).toMatchObject({ status: 'input_required', question: { title: 'What is your name?' } });
    const { request_id, question } = structuredContent as { request_id: string; question: { question_id: string } };
    const answer = { request_id, question_id: question.question_id, content: { name: 'Eve' } };
    expect((await client.callTool({ name: 'answer_question', arguments: answer })).structuredContent).toMatchObject({
      status: 'completed',
      text: 'Hello Eve',
    });
    await client.close();
  });

  test('its model cannot consent for a person; that person answers elsewhere', async () => {
    const client = await connected(era, undefined);
    const { structuredContent, content } = await client.callTool(ask('asker'));
    const { request_id, question } = structuredContent as { request_id: string; question: { question_id: string } };
    expect(JSON.stringify(content)).toContain('A person has to answer it');
    const answer = { request_id, question_id: question.question_id, option: 'allow' };
    await expect(client.callTool({ name: 'answer_question', arguments: answer })).rejects.toThrow(
      'a person has to answer it',
    );
    const path = `/e2a/requests/${request_id}/questions/${question.question_id}`;
    expect((await call(system.url, { method: 'POST', path, key, json: { option_id: 'allow' } })).status).toBe(200);
    expect((await client.callTool({ name: 'get_answer', arguments: { request_id } })).structuredContent).toMatchObject({
      text: 'one momentanswered: allow',
    });
    await client.close();
  });
});

test('a question of a tool is for a person, and ends with the tool', async () => {
  const client = await connected('2026-07-28', undefined);
  const { content, _meta } = await client.callTool({ name: 'asking__register', arguments: {} });
  expect(JSON.stringify(content)).toContain('A person has to answer it');
  const requestId = String(_meta?.['dragoman/request_id']);
  const open = async () => {
    const answer = await call(system.url, { path: '/e2a/questions?state=open', key });
    const { questions } = (await answer.json()) as { questions: { request_id: string; question_id: string }[] };
    return questions.filter((one) => one.request_id === requestId);
  };
  const [{ question_id = '' } = {}] = await open();
  const answer = { request_id: requestId, question_id, content: { firstName: 'Eve' } };
  await expect(client.callTool({ name: 'answer_question', arguments: answer })).rejects.toThrow(
    'a person has to answer it',
  );
  const path = `/e2a/requests/${requestId}/questions/${question_id}`;
  const json = { action: 'accept', content: { firstName: 'Ada' } };
  expect((await call(system.url, { method: 'POST', path, key, json })).status).toBe(200);
  expect(await client.callTool({ name: 'get_answer', arguments: { request_id: requestId } })).toMatchObject({
    content: [{ text: 'accept Ada' }],
  });
  const hurry = await client.callTool({ name: 'asking__hurry', arguments: {} });
  const hurried = String(hurry._meta?.['dragoman/request_id']);
  await expect
    .poll(() => client.callTool({ name: 'get_answer', arguments: { request_id: hurried } }))
    .toMatchObject({ content: [{ text: 'gave up' }] });
  await client.close();
});

describe('an unanswered question', () => {
  test('expires, and a call in a session whose user does nothing gets its result', async () => {
    const client = await connected('in a session', () => new Promise(() => {}));
    const { structuredContent } = await client.callTool(ask('hasty'));
    expect(structuredContent).toMatchObject({ status: 'completed', text: 'answered: reject' });
    await client.close();
  });

  test.each(Object.keys(ERAS) as (keyof typeof ERAS)[])('expires for a client that shows none, %s', async (era) => {
    const client = await connected(era, undefined);
    const { structuredContent } = await client.callTool(ask('hasty'));
    const { request_id } = structuredContent as { request_id: string };
    const answer = async () =>
      (await client.callTool({ name: 'get_answer', arguments: { request_id } })).structuredContent;
    await expect.poll(answer, { timeout: 20_000 }).toMatchObject({ status: 'completed', text: 'answered: reject' });
    await client.close();
  });
});

describe('requestState', () => {
  const capabilities = { elicitation: { form: {} } };
  const begin = async () => {
    const answer = await post(system.url, { key, ...modern('tools/call', ask('asker'), { capabilities }) });
    const { result } = (await answer.json()) as {
      result: { inputRequests: Record<string, object>; requestState: string; resultType: string };
    };
    expect(result.resultType).toBe('input_required');
    const [questionId = ''] = Object.keys(result.inputRequests);
    const inputResponses = { [questionId]: { action: 'accept', content: { choice: 'allow' } } };
    return { requestState: result.requestState, inputResponses };
  };
  const retry = async (params: object, by = key, name = 'ask_asker') => {
    const message = modern('tools/call', { name, arguments: { prompt: 'go' }, ...params }, { id: 2, capabilities });
    return (await (await post(system.url, { key: by, ...message })).json()) as {
      result?: { resultType: string };
      error?: { code: number };
    };
  };

  test('counts for the caller and the tool it was given to, unchanged', async () => {
    const state = await begin();
    const [body = '', seal = ''] = state.requestState.split('.');
    const changed = `${Buffer.from(Buffer.from(body, 'base64url').toString().replace('ada', 'bob')).toString('base64url')}.${seal}`;
    for (const wrong of ['', 'x', 'x.y', changed]) {
      expect(await retry({ ...state, requestState: wrong })).toMatchObject({ error: { code: -32602 } });
    }
    expect(await retry(state, otherKey)).toMatchObject({ error: { code: -32602 } });
    expect(await retry(state, key, 'ask_forms')).toMatchObject({ error: { code: -32602 } });
    expect(await retry({ requestState: state.requestState })).toMatchObject({
      result: { resultType: 'input_required' },
    });
    expect(await retry(state)).toMatchObject({ result: { resultType: 'complete' } });
    // Again: the question has its answer, and the request its result.
    expect(await retry(state)).toMatchObject({ result: { resultType: 'complete' } });
  });

  test('a task asks and is answered by tasks/update', async () => {
    const options = { capabilities: { ...capabilities, extensions: { 'io.modelcontextprotocol/tasks': {} } } };
    const { requestState, inputResponses } = await begin();
    const [, , taskId] = JSON.parse(Buffer.from(requestState.split('.')[0] ?? '', 'base64url').toString());
    const send = async (method: string, params: object) =>
      (
        (await (await post(system.url, { key, ...modern(method, { taskId, ...params }, options) })).json()) as {
          result: object;
        }
      ).result;
    expect(await send('tasks/get', {})).toMatchObject({ status: 'input_required', inputRequests: expect.any(Object) });
    expect(await send('tasks/update', { inputResponses })).toMatchObject({ resultType: 'complete' });
    await expect.poll(() => send('tasks/get', {})).toMatchObject({ status: 'completed' });
  });
});
