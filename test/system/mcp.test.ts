import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { Caller, read } from './caller.ts';
import { legacyClient, modern, openSession, post } from './mcp-caller.ts';
import { agentModule, moduleAgent, System } from './system.ts';

const EVERYTHING = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const system = await System.start({
  config: {
    agents: {
      worker: { ...moduleAgent('worker'), description: 'Works for you', skills: ['work'] },
      hidden: moduleAgent('echo'),
    },
    tools: [agentModule('work-tool')],
    mcp_servers: { every: { command: process.execPath, args: [EVERYTHING, 'stdio'] } },
    workflows: { stored: { greet: { file: fileURLToPath(new URL('./agents/greet.jsonl', import.meta.url)) } } },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const all = ['*'];
const { api_key: key } = await system.caller('ada-agent', {
  permissions: { agents: ['worker'], tools: all, workflows: all, operations: all },
});
const { api_key: otherKey } = await system.caller('bob-agent', { permissions: { agents: ['worker'] } });

const rpc = (method: string, params: object = {}, id: number | string = 1) => ({ jsonrpc: '2.0', id, method, params });

interface Response {
  readonly result?: { readonly [member: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

describe('the official SDK of the revisions with sessions', () => {
  test('lists what the key may use, and nothing else', async () => {
    const client = await legacyClient(system.url, key);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_]{1,48}$/);
    expect(names).toEqual(
      expect.arrayContaining([
        'ask_worker',
        'work',
        'every__get_sum',
        'greet',
        'run_workflow',
        'check_workflow',
        'get_answer',
      ]),
    );
    expect(names).not.toContain('ask_hidden');
    expect(tools.find(({ name }) => name === 'ask_worker')?.description).toBe('Works for you. Skills: work.');
    await client.close();

    const bob = await legacyClient(system.url, otherKey);
    expect((await bob.listTools()).tools.map(({ name }) => name)).toEqual([
      'answer_question',
      'ask_worker',
      'cancel_request',
      'get_answer',
    ]);
    await bob.close();
  });

  test('asks an agent, and continues the conversation', async () => {
    const client = await legacyClient(system.url, key);
    const progress: unknown[] = [];
    const result = await client.callTool({ name: 'ask_worker', arguments: { prompt: 'work' } }, undefined, {
      onprogress: (note) => progress.push(note),
    });
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'Hello world' }],
      structuredContent: { status: 'completed', text: 'Hello world' },
    });
    const { request_id, session_id } = result.structuredContent as Record<string, string>;
    const [frame] = (await new Caller(system, key).resume(request_id ?? '')).map((text) => read(text));
    expect(frame).toMatchObject({ request_id, session_id, channel: 'mcp' });
    const again = await client.callTool({ name: 'ask_worker', arguments: { prompt: 'work', session: session_id } });
    expect(again.structuredContent).toMatchObject({ session_id });
    await client.close();
  });

  test('calls a tool, a tool of an MCP server and a workflow', async () => {
    const client = await legacyClient(system.url, key);
    expect(await client.callTool({ name: 'work', arguments: { mode: 'work' } })).toMatchObject({
      content: [{ type: 'text', text: '{"text":"Hello world"}' }],
      structuredContent: { text: 'Hello world' },
    });
    expect(await client.callTool({ name: 'every__get_sum', arguments: { a: 2, b: 3 } })).toMatchObject({
      content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }],
    });
    expect(await client.callTool({ name: 'greet', arguments: { mode: 'work' } })).toMatchObject({
      structuredContent: { status: 'success', results: { work: { text: 'Hello world' } } },
    });
    const workflow = [
      {
        type: 'operationUpdate',
        operationId: 'now',
        operation: { GetCurrentDateTime: { timezone: 'UTC', outputPath: '/workflow/now' } },
      },
      { type: 'beginExecution', executionId: randomUUID(), operationOrder: ['now'] },
    ];
    expect(await client.callTool({ name: 'run_workflow', arguments: { workflow } })).toMatchObject({
      structuredContent: { status: 'success' },
    });
    expect(await client.callTool({ name: 'check_workflow', arguments: { workflow } })).toMatchObject({
      structuredContent: { valid: true },
    });
    await client.close();
  });

  test('gets content blocks and the description of a bridged tool unchanged', async () => {
    const client = await legacyClient(system.url, key);
    const image = await client.callTool({ name: 'every__get_tiny_image', arguments: {} });
    expect((image.content as { type: string }[]).map(({ type }) => type)).toContain('image');
    const { tools } = await client.listTools();
    const structured = tools.find(({ name }) => name === 'every__get_structured_content');
    expect(structured?.outputSchema).toMatchObject({ type: 'object' });
    expect(
      await client.callTool({ name: 'every__get_structured_content', arguments: { location: 'Chicago' } }),
    ).toMatchObject({ structuredContent: { conditions: expect.any(String) } });
    expect(structured?.title).toBe('Get Structured Content Tool');
    await client.close();
  });

  test('a failure, wrong arguments and an unknown tool each report the fix', async () => {
    const client = await legacyClient(system.url, key);
    expect(await client.callTool({ name: 'ask_worker', arguments: { prompt: 'fail' } })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('it failed') }],
      structuredContent: { status: 'failed', code: 'FAILED', message: expect.stringContaining('it failed') },
    });
    expect(await client.callTool({ name: 'work', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('missing required argument "mode"') }],
    });
    expect(await client.callTool({ name: 'ask_worker', arguments: { text: 'x' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('missing required argument "prompt"') }],
    });
    await expect(client.callTool({ name: 'ask_workr' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Did you mean ask_worker?'),
    });
    await expect(client.callTool({ name: 'ask_hidden', arguments: { prompt: 'x' } })).rejects.toMatchObject({
      message: expect.stringContaining('no permission'),
    });
    await client.close();
  });

  test('cancels a call, and the request behind it ends', async () => {
    const client = await legacyClient(system.url, key);
    const requestId = randomUUID();
    const abort = new AbortController();
    const asking = client.callTool(
      { name: 'ask_worker', arguments: { prompt: 'hold' }, _meta: { 'dragoman/request_id': requestId } },
      undefined,
      { signal: abort.signal },
    );
    const refused = expect(asking).rejects.toThrow();
    await expect.poll(async () => (await new Caller(system, key).get(`${requestId}/responses`)).status).toBe(200);
    abort.abort();
    await refused;
    const frames = (await new Caller(system, key).resume(requestId)).map((text) => read(text));
    expect(frames.at(-1)).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
    await client.close();
  });

  test('a call that takes longer continues by itself, and get_answer and cancel_request reach it', async () => {
    const client = await legacyClient(system.url, key);
    const working = await client.callTool({ name: 'ask_worker', arguments: { prompt: 'hold', wait_seconds: 0.2 } });
    expect(working).toMatchObject({ structuredContent: { status: 'working', text: 'begun', after: 0 } });
    const { request_id } = working.structuredContent as { request_id: string };
    const later = { name: 'get_answer', arguments: { request_id, after: 0, wait_seconds: 0.1 } };
    expect(await client.callTool(later)).toMatchObject({ structuredContent: { status: 'working', text: '' } });
    expect(await client.callTool({ name: 'cancel_request', arguments: { request_id } })).toMatchObject({
      structuredContent: { cancelled: true },
    });
    expect(await client.callTool({ name: 'get_answer', arguments: { request_id } })).toMatchObject({
      isError: true,
      structuredContent: { status: 'cancelled', text: 'begun' },
    });
    const bob = await legacyClient(system.url, otherKey);
    await expect(bob.callTool({ name: 'get_answer', arguments: { request_id } })).rejects.toThrow(
      'There is no request',
    );
    await Promise.all([client.close(), bob.close()]);
  });

  test('reports progress while a tool runs', async () => {
    const client = await legacyClient(system.url, key);
    const progress: unknown[] = [];
    const slow = { name: 'every__trigger_long_running_operation', arguments: { duration: 0.3, steps: 3 } };
    await client.callTool(slow, undefined, { onprogress: (note) => progress.push(note) });
    // The last step may come with the result, or before it.
    expect(progress.slice(0, 2)).toEqual([
      expect.objectContaining({ progress: expect.closeTo(33.3, 1), total: 100 }),
      expect.objectContaining({ progress: expect.closeTo(66.7, 1), total: 100 }),
    ]);
    await client.close();
  });

  test('reads a conversation as a request that counts, and an answer freely', async () => {
    const { api_key: limited } = await system.caller('limited-reader', {
      permissions: { agents: ['worker'] },
      limits: { requests_per_minute: 2 },
    });
    const client = await legacyClient(system.url, limited);
    const { structuredContent } = await client.callTool({ name: 'ask_worker', arguments: { prompt: 'work' } });
    const { request_id, session_id } = structuredContent as Record<string, string>;
    const conversation = { uri: `e2a://sessions/worker/${session_id}` };
    expect((await client.readResource(conversation)).contents).toHaveLength(1);
    await expect(client.readResource(conversation)).rejects.toThrow('requests per minute');
    expect((await client.readResource({ uri: `e2a://requests/${request_id}` })).contents).toHaveLength(1);
    await client.close();
  });

  test('has resources and prompts', async () => {
    const client = await legacyClient(system.url, key);
    const { structuredContent } = await client.callTool({ name: 'ask_worker', arguments: { prompt: 'work' } });
    const { request_id, session_id } = structuredContent as Record<string, string>;
    const textOf = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents;
      return content !== undefined && 'text' in content ? content.text : undefined;
    };
    expect(await textOf(`e2a://requests/${request_id}`)).toBe('Hello world');
    expect((await textOf(`e2a://requests/${request_id}?frames`))?.trim().split('\n')).toHaveLength(3);
    expect(await textOf(`e2a://sessions/worker/${session_id}`)).toBe('caller: work\n\nagent: Hello world');
    expect(await textOf('a2e://workflows/greet')).toContain('operationUpdate');
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining([`e2a://sessions/worker/${session_id}`, 'a2e://workflows/greet']),
    );
    await expect(client.readResource({ uri: 'e2a://requests/none' })).rejects.toThrow('There is no resource');
    const { prompts } = await client.listPrompts();
    // Beside them are those of the MCP server.
    expect(prompts.map(({ name }) => name)).toEqual(expect.arrayContaining(['ask_worker', 'greet', 'simple-prompt']));
    expect(await client.getPrompt({ name: 'ask_worker', arguments: { prompt: 'Sing.' } })).toMatchObject({
      messages: [{ role: 'user', content: { text: expect.stringContaining('Sing.') } }],
    });
    await expect(client.getPrompt({ name: 'greet', arguments: {} })).rejects.toThrow(
      'missing required argument "mode"',
    );
    await client.close();
  });

  test('the endpoint of one agent has that agent alone', async () => {
    const client = await legacyClient(system.url, key, '/mcp/agents/worker');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'answer_question',
      'ask_worker',
      'cancel_request',
      'get_answer',
    ]);
    await expect(client.callTool({ name: 'work', arguments: { mode: 'work' } })).rejects.toThrow('Unknown tool');
    await client.close();
  });
});

describe('sessions', () => {
  test('without a key there is 401 with a challenge, and no hint of OAuth', async () => {
    const answer = await post(system.url, { json: rpc('ping') });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });

  test('a request without a session, with that of another caller or with one that is over is refused', async () => {
    const status = async (headers: Record<string, string>, by = key) =>
      (await post(system.url, { key: by, json: rpc('ping'), headers })).status;
    const session = await openSession(system.url, key);
    expect(await status({})).toBe(400);
    expect(await status({ ...session })).toBe(200);
    expect(await status({ ...session }, otherKey)).toBe(404);
    expect(await status({ 'mcp-session-id': 'unknown' })).toBe(404);
    expect((await call(system.url, { method: 'DELETE', path: '/mcp', key, headers: session })).status).toBe(204);
    expect(await status({ ...session })).toBe(404);
  });

  test('a newer version than ours, or an unknown one, is answered with our newest', async () => {
    const params = { protocolVersion: '2099-01-01', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const answer = await post(system.url, { key, json: rpc('initialize', params) });
    expect(await answer.json()).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    const session = await openSession(system.url, key);
    const wrong = await post(system.url, {
      key,
      json: rpc('ping'),
      headers: { ...session, 'mcp-protocol-version': '1.0' },
    });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { code: -32022 } }]);
  });

  test.each([
    ['no JSON', '{', 400, -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600],
    ['null as id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', 400, -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"sing"}', 200, -32601],
    ['params of another shape', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', 200, -32602],
    ['an invented cursor', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}', 200, -32602],
  ])('%s is refused with the code that JSON-RPC has for it', async (_, text, status, code) => {
    const session = await openSession(system.url, key);
    const headers = { ...session, 'content-type': 'application/json' };
    const answer = await call(system.url, { method: 'POST', path: '/mcp', key, text, headers });
    expect([answer.status, await answer.json()]).toMatchObject([status, { jsonrpc: '2.0', error: { code } }]);
  });

  test('a client that vanishes does not cancel its call', async () => {
    const session = await openSession(system.url, key);
    const requestId = randomUUID();
    const params = {
      name: 'ask_worker',
      arguments: { prompt: 'hold' },
      _meta: { progressToken: 1, 'dragoman/request_id': requestId },
    };
    const answer = await post(system.url, { key, json: rpc('tools/call', params), headers: session });
    expect(answer.headers['content-type']).toBe('text/event-stream');
    answer.message.destroy();
    const frames = new Caller(system, key).resume(requestId);
    expect(await (await new Caller(system, key).cancel(requestId)).json()).toMatchObject({ cancelled: true });
    expect(read((await frames).at(-1) ?? '')).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
  });

  test('the same Idempotency-Key returns the first run', async () => {
    const session = await openSession(system.url, key);
    const headers = { ...session, 'idempotency-key': randomUUID() };
    const ask = async (prompt: string) => {
      const json = rpc('tools/call', { name: 'ask_worker', arguments: { prompt } });
      return (await (await post(system.url, { key, json, headers })).json()) as Response;
    };
    const first = await ask('work');
    expect(await ask('work')).toEqual(first);
    expect(await ask('other')).toMatchObject({ error: { code: 409 } });
  });
});

describe('2026-07-28', () => {
  const ask = async (...given: Parameters<typeof modern>) => {
    const answer = await post(system.url, { key, ...modern(...given) });
    return { status: answer.status, type: answer.headers['content-type'], json: (await answer.json()) as Response };
  };

  test('discover returns versions, capabilities and the name of the server', async () => {
    expect(await ask('server/discover')).toMatchObject({
      status: 200,
      json: {
        result: {
          resultType: 'complete',
          supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
          capabilities: { tools: { listChanged: true }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
          _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'dragoman' } },
        },
      },
    });
  });

  test('a list may be kept for a minute by this client alone', async () => {
    expect((await ask('tools/list')).json.result).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' });
  });

  test.each([
    ['another version in the header', { 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    ['another method in the header', { 'mcp-method': 'tools/list' }, 400, -32020],
    ['another name in the header', { 'mcp-name': 'other' }, 400, -32020],
    ['the name in Base64', { 'mcp-name': '=?base64?YXNrX3dvcmtlcg==?=' }, 200, undefined],
  ])('%s', async (_, headers, status, code) => {
    const message = modern('tools/call', { name: 'ask_worker', arguments: { prompt: 'work' } });
    const answer = await post(system.url, { key, json: message.json, headers: { ...message.headers, ...headers } });
    expect([answer.status, ((await answer.json()) as Response).error?.code]).toEqual([status, code]);
  });

  test('an unknown method is 404, and so are those of sessions', async () => {
    for (const method of ['sing', 'ping', 'initialize']) {
      expect(await ask(method)).toMatchObject({ status: 404, json: { error: { code: -32601 } } });
    }
  });

  test('an answer that is there at once is JSON, and carries the handle of the request', async () => {
    expect(await ask('tools/call', { name: 'work', arguments: { mode: 'work' } })).toMatchObject({
      type: 'application/json',
      json: {
        result: { resultType: 'complete', _meta: { 'dragoman/request_id': expect.stringMatching(/^mcp_/) } },
      },
    });
  });

  test('a client that closes the stream cancels the request', async () => {
    const requestId = randomUUID();
    const _meta = { progressToken: 'p', 'dragoman/request_id': requestId };
    const params = { name: 'ask_worker', arguments: { prompt: 'hold' }, _meta };
    const answer = await post(system.url, { key, ...modern('tools/call', params) });
    const [first] = await answer
      .events()
      [Symbol.asyncIterator]()
      .next()
      .then(({ value }) => [value]);
    expect(JSON.parse(first?.data ?? '')).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1, message: 'begun' },
    });
    answer.message.destroy();
    const frames = await new Caller(system, key).resume(requestId);
    expect(read(frames.at(-1) ?? '')).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
  });

  test('with the tasks extension a long call is a task, which ends as its request does', async () => {
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const options = { capabilities };
    const call = { name: 'ask_worker', arguments: { prompt: 'hold', wait_seconds: 0.1 } };
    const { json } = await ask('tools/call', call, options);
    expect(json.result).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 2000 });
    const { taskId } = json.result as { taskId: string };
    expect((await ask('tasks/get', { taskId }, options)).json.result).toMatchObject({ taskId, status: 'working' });
    const requiredCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    expect(await ask('tasks/get', { taskId })).toMatchObject({
      status: 400,
      json: { error: { code: -32021, data: { requiredCapabilities } } },
    });
    expect((await ask('tasks/cancel', { taskId }, options)).json.result).toMatchObject({ resultType: 'complete' });
    await expect
      .poll(async () => (await ask('tasks/get', { taskId }, options)).json.result)
      .toMatchObject({ status: 'cancelled' });
    const done = await ask('tools/call', { name: 'ask_worker', arguments: { prompt: 'work' } }, options);
    const structured = done.json.result?.['structuredContent'];
    const { request_id } = structured as { request_id: string };
    expect((await ask('tasks/get', { taskId: request_id }, options)).json.result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { text: 'Hello world' } },
    });
  });
});

describe('tool search', () => {
  test('a long list is short, with agents first, and search_tools and call_tool reach the rest', async () => {
    await using small = await System.start({
      config: {
        agents: { worker: moduleAgent('worker') },
        tools: [agentModule('work-tool')],
        mcp_servers: { every: { command: process.execPath, args: [EVERYTHING, 'stdio'] } },
        mcp: { max_listed_tools: 2 },
      },
    });
    const { api_key } = await small.caller('ada-agent', { permissions: { agents: all, tools: all } });
    const client = await legacyClient(small.url, api_key);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toHaveLength(3 + 2 + 2);
    expect(names).toEqual(expect.arrayContaining(['ask_worker', 'search_tools', 'call_tool']));
    expect(names).not.toContain('every__get_sum');
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'sum of numbers' } });
    const { tools } = found.structuredContent as { tools: { name: string; inputSchema: object }[] };
    expect(tools[0]).toMatchObject({ name: 'every__get_sum', inputSchema: { type: 'object' } });
    const call = { name: 'call_tool', arguments: { name: 'every__get_sum', arguments: { a: 2, b: 3 } } };
    expect(await client.callTool(call)).toMatchObject({ content: [{ text: 'The sum of 2 and 3 is 5.' }] });
    expect(await client.callTool({ name: 'every__get_sum', arguments: { a: 2, b: 3 } })).toMatchObject({
      content: [{ text: 'The sum of 2 and 3 is 5.' }],
    });
    await client.close();
  });
});
