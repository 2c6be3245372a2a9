import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Explanation } from '../../packages/protocols/src/explanation.ts';
import { isObject, type JsonObject } from '../../packages/protocols/src/json.ts';
import { heading, pair, signed } from './a2a-peer.ts';
import { call } from './call.ts';
import { openSession, post as postMcp } from './mcp-caller.ts';
import { SocketClient } from './socket-client.ts';
import { agentModule, System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

const OWN_OPERATIONS = fileURLToPath(
  new URL('../../packages/core/src/workflow/fixtures/own-operations.mjs', import.meta.url),
);
const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: { echo: { driver: 'module', module: agentModule('echo'), name: 'Echo', skills: ['repeat'] } },
    mailbox: { anonymous: ['echo'], callbacks: { retries: 0 } },
    workflows: { operations: [OWN_OPERATIONS] },
    // Nobody listens there.
    gate: { callbacks: ['127.0.0.1:9'] },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const EVERYTHING = { agents: ['*'], operations: ['*'], tools: ['*'] };
const ada = await system.caller('ada-agent', { permissions: { ...EVERYTHING, agents: ['echo'] } });
const bob = await system.caller('bob-agent', { permissions: EVERYTHING });

describe('a request over E2A', () => {
  test('is shown as received, with the additions of the server, and the permission that allowed it', async () => {
    const text =
      '{ "request_id": "plain", "params": {"content": "hello there"}, "is_stream": true, "method":"chat.send" }';
    await post('/e2a/agents/echo', text);
    const explanation = await explained('plain');
    expect(explanation).toMatchObject({
      request_id: 'plain',
      kind: 'request',
      agent_id: 'ada-agent',
      state: 'finished',
      received: { dialect: 'e2a', bytes: text.length },
      envelope: { request_id: 'plain', source_agent_id: 'ada-agent', agent_ref: { id: 'echo' } },
      allowed: [
        {
          who: 'ada-agent',
          known_by: `key ${ada.key_id}`,
          what: 'to ask agent echo',
          rule: 'permissions.agents has "echo"',
        },
      ],
      also_by: [],
      answers_left_out: 0,
    });
    expect(JSON.parse(explanation.received.text ?? '')).toEqual(JSON.parse(text));
    expect(explanation.way_in.dropped).toEqual([]);
    expect(explanation.way_in.changed).toEqual([]);
    const invented = Object.fromEntries(explanation.way_in.invented.map(({ pointer, value }) => [pointer, value]));
    expect(invented).toEqual({
      '/protocol_version': '1.0',
      '/provenance/source_protocol': 'e2a',
      '/identity_origin': 'user',
      '/source_agent_id': 'ada-agent',
      '/agent_ref/id': 'echo',
    });
    expect(explanation.answers.map(({ sequence, response_kind }) => [sequence, response_kind])).toEqual([
      [0, 'e2a.chunk'],
      [1, 'e2a.chunk'],
      [2, 'e2a.complete'],
    ]);
    expect(explanation.answers.flatMap(({ projections }) => projections)).toEqual([]);
  });

  test('that was born in an editor shows what each frame is in ACP', async () => {
    const envelope = {
      request_id: 'from-editor',
      method: 'session/prompt',
      session_id: 's1',
      jsonrpc_id: 7,
      is_stream: true,
      params: { content: 'hi' },
      provenance: { source_protocol: 'acp' },
    };
    await post('/e2a', JSON.stringify(envelope));
    const { answers } = await explained('from-editor');
    expect(answers.map(({ projections }) => projections.map(({ dialect }) => dialect))).toEqual([['acp'], ['acp']]);
    expect(answers[0]?.projections[0]?.message).toMatchObject({ method: 'session/update' });
    expect(answers[1]?.projections[0]?.message).toMatchObject({ id: 7, result: { stopReason: 'end_turn' } });
  });

  test('never shows a secret of auth, and marks it as left out', async () => {
    const auth = {
      bearer_token: 'SECRET-ONE',
      extra_headers: { 'x-key': 'SECRET-TWO' },
      credential_ref: 'vault-entry',
    };
    await post(
      '/e2a',
      JSON.stringify({ request_id: 'with-auth', method: 'chat.send', params: { content: 'x' }, auth }),
    );
    const explanation = await explained('with-auth');
    expect(JSON.stringify(explanation)).not.toContain('SECRET');
    expect(JSON.parse(explanation.received.text ?? '')).toMatchObject({ auth: { credential_ref: 'vault-entry' } });
    expect(explanation.way_in.dropped.map(({ pointer, why }) => [pointer, why])).toEqual([
      ['/auth/bearer_token', 'a secret is not recorded (E2A §13)'],
      ['/auth/extra_headers', 'a secret is not recorded (E2A §13)'],
    ]);
  });

  test('in old keys names each of them and where it went', async () => {
    await post('/e2a', JSON.stringify({ request_id: 'old', req_method: 'chat.send', payload: { content: 'x' } }));
    const { way_in } = await explained('old');
    expect(way_in.dropped.map(({ pointer }) => pointer)).toEqual(['/req_method', '/payload']);
    expect(way_in.warnings.map(({ pointer, suggestion }) => [pointer, suggestion])).toEqual([
      ['/req_method', 'send method'],
      ['/payload', 'send params'],
    ]);
  });

  test('over a WebSocket, and one that is too large to keep, are known as well', async () => {
    const socket = await SocketClient.open(system.url, ada.api_key);
    await socket.ask({ request_id: 'by-socket', method: 'chat.send', params: { content: 'hi' } });
    socket.close();
    expect((await explained('by-socket')).received).toMatchObject({
      dialect: 'e2a',
      text: expect.stringContaining('"hi"'),
    });
    await post(
      '/e2a',
      JSON.stringify({ request_id: 'large', method: 'chat.send', params: { content: 'x'.repeat(70_000) } }),
    );
    const { received } = await explained('large');
    expect(received).toMatchObject({ text: null, note: 'larger than what is kept' });
    expect(received.bytes).toBeGreaterThan(70_000);
  });

  test('to the server itself needs no rule', async () => {
    await post('/e2a', JSON.stringify({ request_id: 'own', method: 'session.list' }));
    expect((await explained('own')).allowed).toMatchObject([{ what: "the server's own session.list" }]);
  });
});

test('a mailbox message shows its shorthand, its answer as a mailbox message, and its callback', async () => {
  const message = {
    from: { name: 'Ada', callbackUrl: 'https://127.0.0.1:9/in' },
    message: 'two words',
    metadata: { messageId: 'letter-1', threadId: 't1', colour: 'blue' },
  };
  await post('/a2a', JSON.stringify(message));
  const explanation = await explained('letter-1', (one) => one.state === 'finished' && one.callbacks.length > 0);
  expect(explanation).toMatchObject({
    received: { dialect: 'a2a-mailbox', text: JSON.stringify(message) },
    envelope: { channel: 'a2a-mailbox', session_id: 't1', params: { content: 'two words' } },
    allowed: [{ who: 'ada-agent', rule: 'permissions.agents has "echo"' }],
    callbacks: [{ url: 'https://127.0.0.1:9/in', body: { replyTo: 'letter-1' } }],
  });
  // The key is the identity: the name is a label.
  expect(explanation.way_in.changed.map(({ pointer, value }) => [pointer, value])).toContainEqual([
    '/from/name',
    'ada-agent',
  ]);
  expect(explanation.way_in.dropped).toEqual([]);
  expect(explanation.way_in.invented.map(({ pointer }) => pointer)).toEqual(
    expect.arrayContaining(['/provenance/source_protocol', '/method', '/source_agent_id', '/agent_ref/name']),
  );
  const [chunk, , final] = explanation.answers;
  expect(chunk?.projections).toMatchObject([
    { dialect: 'a2a-mailbox', message: null, dropped: [{ pointer: '/body' }] },
  ]);
  expect(final?.projections).toMatchObject([{ message: { replyTo: 'letter-1', threadId: 't1' }, dropped: [] }]);
});

test('a message without a key is shown as anonymous', async () => {
  await call(system.url, {
    method: 'POST',
    path: '/a2a',
    json: { from: 'Nobody', message: 'hi', metadata: { messageId: 'anonymous-1' } },
  });
  const [allowed] = (await explained('anonymous-1')).allowed;
  expect(allowed?.known_by).toBe('nothing: mailbox.anonymous lists the agent');
});

test('a signed A2A request shows that its signature was checked and left behind', async () => {
  const keys = pair();
  await system.caller('signer', { permissions: { agents: ['*'] }, public_key: keys.pem });
  const payload = { method: 'say', parameters: { content: 'signed words' } };
  const request = signed({ ...keys, agentId: 'signer', api_key: '' }, { ...heading('request'), payload });
  await call(system.url, { method: 'POST', path: '/a2a/messages', json: request });
  const explanation = await explained(String(request['message_id']));
  expect(explanation).toMatchObject({
    agent_id: 'signer',
    received: { dialect: 'a2a-messages', text: JSON.stringify(request) },
    allowed: [{ known_by: 'its signature', rule: 'permissions.agents has "*"' }],
  });
  expect(explanation.way_in.dropped).toMatchObject([
    { pointer: '/auth', why: expect.stringContaining('verified at the endpoint') },
  ]);
  const final = explanation.answers.at(-1)?.projections[0];
  expect(final).toMatchObject({ dialect: 'a2a-messages', message: { payload: { status: 'success' } }, dropped: [] });
});

test('a workflow shows its lines, the rule for each operation, its effects and its result', async () => {
  const workflow = workflowOf({ wait: { Wait: { duration: 1 } } }, { id: 'run-1' });
  await post('/api/v1/workflows/execute', JSON.stringify({ workflow, onError: 'continue' }));
  expect(await explained('run-1')).toMatchObject({
    kind: 'execution',
    state: 'success',
    received: { dialect: 'a2e-workflow', text: workflow },
    allowed: [{ what: 'to use the operation Wait', rule: 'permissions.operations has "*"' }],
    outcome: { options: { onError: 'continue' }, effects: [{ kind: 'wait' }], result: { status: 'success' } },
  });
});

test("a workflow with the operator's own operations is understood as well, and its bytes are the received ones", async () => {
  const now = { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/now' } };
  const double = { Double: { inputPath: '/workflow/now', outputPath: '/workflow/doublé' } };
  const workflow = workflowOf({ now, double }, { id: 'run-2' });
  await post('/api/v1/workflows/execute', JSON.stringify({ workflow }));
  const explanation = await explained('run-2');
  expect(explanation.received.bytes).toBe(Buffer.byteLength(workflow));
  expect(explanation.allowed.map(({ what }) => what)).toContain('to use the operation Double');
  expect(explanation.way_in.warnings).toEqual([]);
});

describe('a request shows what its client sent and received', () => {
  const newest = async (agent: string) => {
    const answer = await call(system.url, { path: '/e2a/requests?limit=1', key: ada.api_key });
    const { requests } = (await answer.json()) as { requests: { request_id: string; agent: string }[] };
    expect(requests[0]?.agent).toBe(agent);
    return explained(requests[0]?.request_id ?? '');
  };
  const messages = ({ answers }: Explanation) =>
    answers.flatMap(({ projections }) => projections.flatMap(({ message }) => message));

  test.each<[string, JsonObject]>([
    ['1.0', { role: 'ROLE_USER', parts: [{ text: 'hello there' }] }],
    ['0.3', { kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'hello there' }] }],
  ])('over Linux Foundation A2A %s', async (version, message) => {
    const method = version === '1.0' ? 'SendMessage' : 'message/send';
    const params = { message: { messageId: `m-${version}`, ...message }, configuration: { blocking: true } };
    const json = { jsonrpc: '2.0', id: 1, method, params };
    const headers = version === '1.0' ? { 'a2a-version': '1.0' } : {};
    await (
      await call(system.url, { method: 'POST', path: '/lf-a2a/agents/echo', key: ada.api_key, headers, json })
    ).text();
    const explanation = await newest('echo');
    expect(explanation.received).toMatchObject({ dialect: 'lf-a2a', text: JSON.stringify(json) });
    const dropped = explanation.way_in.dropped.map(({ pointer }) => pointer);
    expect(dropped).toEqual(version === '1.0' ? [] : ['/method']);
    expect(explanation.way_in.invented.map(({ pointer }) => pointer)).toContain('/source_agent_id');
    const [first, last] = [messages(explanation)[0], messages(explanation).at(-1)];
    expect(first).toMatchObject(
      version === '1.0'
        ? { statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } }
        : { kind: 'status-update', status: { state: 'working' } },
    );
    expect(last).toMatchObject(
      version === '1.0'
        ? { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } }
        : { kind: 'status-update', status: { state: 'completed' }, final: true },
    );
  });

  test('over ACP', async () => {
    const connection = new WebSocket(`${system.url.replace('http', 'ws')}/acp/agents/echo`, {
      headers: { authorization: `Bearer ${ada.api_key}` },
    });
    await once(connection, 'open');
    const received: JsonObject[] = [];
    connection.on('message', (data) => received.push(JSON.parse(data.toString())));
    const ask = async (id: number, method: string, params: JsonObject) => {
      connection.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      for (;;) {
        const answer = received.find((one) => one['id'] === id);
        if (answer !== undefined) return answer['result'] as JsonObject;
        await once(connection, 'message');
      }
    };
    await ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
    const session = await ask(2, 'session/new', { cwd: '/work', mcpServers: [] });
    const params = { sessionId: session['sessionId'] ?? '', prompt: [{ type: 'text', text: 'hello there' }] };
    const result = await ask(3, 'session/prompt', params);
    connection.close();
    const explanation = await newest('echo');
    expect(explanation.received.dialect).toBe('acp');
    expect(JSON.parse(explanation.received.text ?? '')).toEqual({ id: 3, method: 'session/prompt', params });
    const updates = received.flatMap(({ params: sent }) => (isObject(sent) ? [sent['update']] : []));
    expect(messages(explanation)).toEqual([...updates, { result }]);
  });

  test('over MCP', async () => {
    const params = { name: 'ask_echo', arguments: { prompt: 'hello there' } };
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const headers = await openSession(system.url, ada.api_key);
    const answer = await (await postMcp(system.url, { key: ada.api_key, json, headers })).json();
    const explanation = await newest('echo');
    expect(explanation.received).toMatchObject({ dialect: 'mcp', text: JSON.stringify(json) });
    expect(messages(explanation).at(-1)).toEqual((answer as JsonObject)['result']);
  });

  test("over OpenAI's chat completions and responses", async () => {
    const chat = { model: 'echo', messages: [{ role: 'user', content: 'hello there' }], stream: true };
    await (
      await call(system.url, { method: 'POST', path: '/v1/chat/completions', key: ada.api_key, json: chat })
    ).text();
    const completion = await newest('echo');
    expect(completion.received).toMatchObject({ dialect: 'openai', text: JSON.stringify(chat) });
    expect(messages(completion)).toEqual([
      expect.objectContaining({ choices: [expect.objectContaining({ delta: { role: 'assistant', content: '' } })] }),
      expect.objectContaining({ choices: [expect.objectContaining({ delta: { content: 'hello' } })] }),
      expect.objectContaining({ choices: [expect.objectContaining({ delta: { content: 'there' } })] }),
      expect.objectContaining({ choices: [expect.objectContaining({ finish_reason: 'stop' })] }),
    ]);
    const ask = { model: 'echo', input: 'hello there' };
    await (await call(system.url, { method: 'POST', path: '/v1/responses', key: ada.api_key, json: ask })).text();
    const types = messages(await newest('echo')).map((message) => (message as JsonObject)['type']);
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
  });
});

test('a line of the wire shows who did what, and no content', async () => {
  const opened = await call(system.url, { method: 'POST', path: '/a2e/session', key: ada.api_key });
  const headers = { 'x-session-id': ((await opened.json()) as { session_id: string }).session_id };
  const send = async (json: JsonObject) =>
    (await call(system.url, { method: 'POST', path: '/a2e/send', key: ada.api_key, headers, json })).text();
  await send({ a2e: '1.0', type: 'handshake/req', id: 'h', ts: 1 });
  await send({
    a2e: '1.0',
    type: 'tool/call/req',
    id: 'line-1',
    ts: 1,
    tool_name: 'absent',
    arguments: { a: 'private' },
  });
  const explanation = await explained('line-1');
  expect(explanation).toMatchObject({
    kind: 'wire',
    agent_id: 'ada-agent',
    received: { dialect: 'a2e-wire', text: null },
    outcome: { type: 'tool/call/req', name: 'absent', success: false, error_code: 'not_found' },
  });
  // What did not come to a call was allowed by nothing; the session was, by a key.
  expect(explanation.allowed).toEqual([
    {
      who: 'ada-agent',
      known_by: expect.stringMatching(/^key key-[0-9a-f]{12}, session [0-9a-f]+$/),
      what: 'to open the session',
      rule: 'allowed for every caller with a key',
    },
  ]);
  expect(explanation.outcome).toMatchObject({ meaning: 'The tool, skill or other resource was not found.' });
  expect(JSON.stringify(explanation)).not.toContain('said"');
});

test('where several callers use an id, the newest is shown, the others are named, and each can be requested', async () => {
  for (const { api_key: key } of [ada, bob]) {
    await call(system.url, {
      method: 'POST',
      path: '/e2a',
      key,
      json: { request_id: 'shared', method: 'chat.send', params: { content: 'x' } },
    });
  }
  const newest = await explained('shared');
  expect([newest.agent_id, newest.also_by]).toEqual(['bob-agent', ['ada-agent']]);
  expect((await explained('shared?agent_id=ada-agent')).agent_id).toBe('ada-agent');
  const nobody = await ask('shared?agent_id=nobody');
  expect(nobody.status).toBe(404);
});

test('it is all there after a restart, and what was refused is not', async () => {
  await post('/e2a', JSON.stringify({ request_id: 'before', method: 'chat.send', params: { content: 'x' } }));
  await post('/e2a/agents/nobody', JSON.stringify({ request_id: 'refused', method: 'chat.send' }));
  const before = await explained('before');
  await system.kill();
  await system.start();
  expect(await explained('before')).toEqual(before);
  const refused = await ask('refused');
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({ suggestions: [expect.stringContaining('rejected'), expect.anything()] });
});

async function post(path: string, text: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await (await call(system.url, { method: 'POST', path, key: ada.api_key, headers, text })).text();
}

function ask(id: string) {
  return call(system.url, { path: `/admin/v1/requests/${id}`, key: system.adminKey });
}

/** Polls until it is as far as the test wants it. */
async function explained(id: string, isFar: (explanation: Explanation) => boolean = () => true): Promise<Explanation> {
  for (;;) {
    const answer = await ask(id);
    expect(answer.status).toBe(200);
    const explanation = (await answer.json()) as Explanation;
    if (isFar(explanation)) return explanation;
  }
}
