import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { type CallOptions, call, type HttpAnswer } from './call.ts';
import { Caller } from './caller.ts';
import { moduleAgent, System } from './system.ts';

// What a client of ACP can get wrong, by raw messages: no SDK would send them.

const FAKE = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/acp-program.mjs', import.meta.url));
const coder = { driver: 'acp' as const, command: process.execPath, args: [FAKE], client_fs: 'caller' as const };
const agents = { worker: moduleAgent('worker'), asker: moduleAgent('asker'), coder };
const system = await System.start({ config: { default_agent: 'worker', agents } });
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('editor-agent');
const { api_key: othersKey } = await system.caller('other-agent');

const INITIALIZE = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } };
const NEW = { jsonrpc: '2.0', id: 1, method: 'session/new', params: { cwd: '/work', mcpServers: [] } };
const prompt = (sessionId: string, text: string, id: number | string = 2) => ({
  jsonrpc: '2.0',
  id,
  method: 'session/prompt',
  params: { sessionId, prompt: [{ type: 'text', text }] },
});

/** A client that sends anything and keeps everything it receives. */
interface RawClient {
  send(text: string): void;
  readonly received: JsonObject[];
}

const TRANSPORTS: Readonly<Record<string, () => Promise<RawClient>>> = {
  stdio: async () => {
    const child = spawn(process.execPath, [system.command, 'acp', '--url', system.url], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] ?? '', DRAGOMAN_KEY: key },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const received: JsonObject[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => received.push(JSON.parse(line)));
    return { received, send: (text) => child.stdin.write(`${text}\n`) };
  },
  WebSocket: async () => {
    const socket = new WebSocket(`${system.url.replace('http', 'ws')}/acp`, {
      headers: { authorization: `Bearer ${key}` },
    });
    onTestFinished(() => socket.terminate());
    const received: JsonObject[] = [];
    socket.on('message', (data) => received.push(JSON.parse(String(data))));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return { received, send: (text) => socket.send(text) };
  },
};

const answerTo = (client: RawClient, id: unknown) => client.received.find((message) => message['id'] === id);
async function answered(client: RawClient, message: JsonObject): Promise<JsonObject> {
  client.send(JSON.stringify(message));
  await expect.poll(() => answerTo(client, message['id'])).toBeDefined();
  return answerTo(client, message['id']) as JsonObject;
}

describe.each(Object.entries(TRANSPORTS))('over %s', (_, open) => {
  test('garbage, batches and invalid messages get an error each, and the connection continues', async () => {
    const client = await open();
    for (const text of ['not json', '[]', '"text"', '{"jsonrpc":"1.0","id":5,"method":"x"}', '{"a":1,"a":2}']) {
      client.send(text);
    }
    await expect.poll(() => client.received.length).toBe(5);
    const codes = client.received.map(({ error }) => (error as JsonObject)['code']);
    expect(codes.sort()).toEqual([-32600, -32600, -32600, -32700, -32700]);
    expect(await answered(client, INITIALIZE)).toMatchObject({ result: { protocolVersion: 1 } });
  });

  test('an id that is being answered already is refused, and the first answer continues', async () => {
    const client = await open();
    await answered(client, INITIALIZE);
    const { result } = await answered(client, NEW);
    const { sessionId } = result as { sessionId: string };
    client.send(JSON.stringify(prompt(sessionId, 'hold', 7)));
    await expect.poll(() => client.received.some(({ method }) => method === 'session/update')).toBe(true);
    expect(await answered(client, prompt(sessionId, 'again', 7))).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('7') },
    });
    client.send(JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 7 } }));
    await expect
      .poll(() => client.received.filter(({ id }) => id === 7).at(-1))
      .toMatchObject({ result: { stopReason: 'cancelled' } });
  });

  test.each([
    ['session/cancel', (sessionId: string) => ({ sessionId })],
    ['$/cancel_request', () => ({ requestId: 2 })],
  ])('%s right behind its prompt cancels it', async (method, params) => {
    const client = await open();
    await answered(client, INITIALIZE);
    const { result } = await answered(client, NEW);
    const { sessionId } = result as { sessionId: string };
    client.send(JSON.stringify(prompt(sessionId, 'hold')));
    client.send(JSON.stringify({ jsonrpc: '2.0', method, params: params(sessionId) }));
    await expect.poll(() => answerTo(client, 2)).toMatchObject({ result: { stopReason: 'cancelled' } });
  });

  test.each<[string, JsonObject, string]>([
    ['an option that was not offered', { result: { outcome: { outcome: 'selected', optionId: 'never' } } }, 'decline'],
    ['a result of another shape', { result: [7] }, 'decline'],
    ['an error', { error: { code: -32601, message: 'no such method' } }, 'decline'],
    ['twice', { result: { outcome: { outcome: 'selected', optionId: 'allow' } } }, 'allow'],
  ])('a question that is answered by %s does not stay open', async (_, response, answer) => {
    const client = await open();
    await answered(client, INITIALIZE);
    const { result } = await answered(client, NEW);
    const { sessionId } = result as { sessionId: string };
    const params = { sessionId, configId: 'agent', value: 'asker' };
    await answered(client, { jsonrpc: '2.0', id: 2, method: 'session/set_config_option', params });
    client.send(JSON.stringify(prompt(sessionId, 'ask', 3)));
    const question = () => client.received.find(({ method }) => method === 'session/request_permission');
    await expect.poll(question).toBeDefined();
    for (let times = 0; times < 2; times++) {
      client.send(JSON.stringify({ jsonrpc: '2.0', id: question()?.['id'], ...response }));
    }
    await expect.poll(() => answerTo(client, 3)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(JSON.stringify(client.received)).toContain(`answered: ${answer}`);
  });

  test('unknown sessions, methods and members are refused by name', async () => {
    const client = await open();
    await answered(client, INITIALIZE);
    expect(await answered(client, prompt('never-was', 'hi'))).toMatchObject({ error: { code: -32002 } });
    expect(await answered(client, { jsonrpc: '2.0', id: 3, method: 'session/fly' })).toMatchObject({
      error: { code: -32601, message: expect.stringContaining('session/fly') },
    });
    expect(await answered(client, { ...NEW, id: 4, params: {} })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('cwd') },
    });
    expect(await answered(client, { ...prompt('never-was', 'hi', 5), params: { sessionId: 7 } })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('sessionId') },
    });
    // These answer no request: nothing comes back, and nothing breaks.
    client.send(JSON.stringify({ jsonrpc: '2.0', id: 'question-none', result: {} }));
    client.send(JSON.stringify({ jsonrpc: '2.0', method: 'session/unknown', params: {} }));
    client.send(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'never-was' } }));
    const before = client.received.length;
    await answered(client, { jsonrpc: '2.0', id: 6, method: 'session/list', params: {} });
    expect(client.received.length).toBe(before + 1);
  });
});

test('a line that is too long is refused, and the next one is read', async () => {
  const client = await (TRANSPORTS['stdio'] as () => Promise<RawClient>)();
  client.send(`"${'x'.repeat(17 * 1024 * 1024)}"`);
  await expect.poll(() => client.received.length, { timeout: 20_000 }).toBe(1);
  expect(client.received[0]).toMatchObject({ error: { code: -32700 } });
  expect(await answered(client, INITIALIZE)).toMatchObject({ result: { protocolVersion: 1 } });
});

describe('over Streamable HTTP', () => {
  const at = (method: string, options: Partial<CallOptions> = {}): Promise<HttpAnswer> =>
    call(system.url, { method, path: '/acp', key, ...options });
  const post = (json: unknown, headers: Readonly<Record<string, string>> = {}) => at('POST', { json, headers });
  const connected = async () => {
    const answer = await post(INITIALIZE);
    return { 'acp-connection-id': String(answer.headers['acp-connection-id']) };
  };

  test('an id that is being answered already is refused', async () => {
    const headers = await connected();
    const stream = await at('GET', { headers, accept: 'text/event-stream' });
    await post(NEW, headers);
    const { value } = await stream.events().next();
    const { sessionId } = JSON.parse(value?.data ?? '').result;
    expect((await post(prompt(sessionId, 'hold', 7), headers)).status).toBe(202);
    const again = await post(prompt(sessionId, 'again', 7), headers);
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('7')]);
    await post({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } }, headers);
    stream.destroy();
  });

  test('a connection is opened by initialize, streams its answers, and ends', async () => {
    const answer = await post(INITIALIZE);
    expect([answer.status, await answer.json()]).toMatchObject([200, { id: 0, result: { protocolVersion: 1 } }]);
    const headers = { 'acp-connection-id': String(answer.headers['acp-connection-id']) };
    const stream = await at('GET', { headers, accept: 'text/event-stream' });
    expect((await post(NEW, headers)).status).toBe(202);
    const { value } = await stream.events().next();
    expect(JSON.parse(value?.data ?? '')).toMatchObject({ id: 1, result: { sessionId: expect.any(String) } });
    expect((await at('DELETE', { headers })).status).toBe(202);
    expect((await post(NEW, headers)).status).toBe(404);
  });

  test('a stream that breaks is resumed after the last event that was seen', async () => {
    const headers = await connected();
    const first = await at('GET', { headers, accept: 'text/event-stream' });
    await post(NEW, headers);
    const { value: seen } = await first.events().next();
    first.destroy();
    await post({ ...NEW, id: 2 }, headers);
    const resumed = { ...headers, 'last-event-id': seen?.id ?? '' };
    const second = await at('GET', { headers: resumed, accept: 'text/event-stream' });
    const { value: next } = await second.events().next();
    second.destroy();
    expect(JSON.parse(next?.data ?? '')).toMatchObject({ id: 2 });
  });

  test.each<[string, number, () => Promise<HttpAnswer>]>([
    ['a batch', 501, () => post([INITIALIZE])],
    [
      'a message that is not JSON',
      400,
      () => at('POST', { text: '{', headers: { 'content-type': 'application/json' } }),
    ],
    [
      'a message with a member twice',
      400,
      () => at('POST', { text: '{"id":1,"id":2}', headers: { 'content-type': 'application/json' } }),
    ],
    ['a message that is not an object', 400, () => post(7)],
    ['another content type', 415, () => at('POST', { text: 'x', headers: { 'content-type': 'text/plain' } })],
    ['a message without a connection', 400, () => post(NEW)],
    ['an unknown connection', 404, () => post(NEW, { 'acp-connection-id': 'never-was' })],
    ['a stream of an unknown connection', 404, () => at('GET', { headers: { 'acp-connection-id': 'never-was' } })],
    ['an initialize without an id', 400, () => post({ jsonrpc: '2.0', method: 'initialize', params: {} })],
    ['a second initialize', 400, async () => post(INITIALIZE, await connected())],
    [
      'a stream of another type',
      406,
      async () => at('GET', { headers: await connected(), accept: 'application/json' }),
    ],
    [
      'a session that is not that of the message',
      400,
      async () => post(prompt('a', 'hi'), { ...(await connected()), 'acp-session-id': 'b' }),
    ],
    ['a body that is too large', 413, () => post({ ...INITIALIZE, params: { x: 'y'.repeat(2 << 20) } })],
    [
      'a page of another site',
      403,
      () => at('POST', { json: INITIALIZE, headers: { origin: 'https://evil.example' } }),
    ],
    ['a caller without a key', 401, () => call(system.url, { method: 'POST', path: '/acp', json: INITIALIZE })],
  ])('%s is answered with %i', async (_, status, ask) => {
    const answer = await ask();
    expect([answer.status, await answer.text()]).toEqual([status, expect.any(String)]);
  });

  test('the connection of another caller, or of another endpoint, looks absent', async () => {
    const headers = await connected();
    for (const method of ['POST', 'GET', 'DELETE']) {
      const json = method === 'POST' ? { json: NEW } : {};
      expect((await at(method, { headers, key: othersKey, ...json })).status).toBe(404);
      expect((await at(method, { headers, path: '/acp/agents/worker', ...json })).status).toBe(404);
    }
  });

  test('a client that never reads loses its oldest connection, not the server its memory', async () => {
    const first = await connected();
    for (let opened = 0; opened < 32; opened++) await connected();
    expect((await post(NEW, first)).status).toBe(404);
  });

  test('a client that vanishes in the middle of a turn finds it again', async () => {
    const headers = await connected();
    const stream = await at('GET', { headers, accept: 'text/event-stream' });
    await post(NEW, headers);
    const { value } = await stream.events().next();
    const { sessionId } = JSON.parse(value?.data ?? '').result;
    await post(prompt(sessionId, 'hold'), headers);
    stream.destroy();
    await at('DELETE', { headers });

    const again = await connected();
    const replayed = await at('GET', {
      headers: { ...again, 'acp-session-id': sessionId },
      accept: 'text/event-stream',
    });
    const params = { sessionId, cwd: '/work', mcpServers: [] };
    await post({ jsonrpc: '2.0', id: 8, method: 'session/load', params }, again);
    const updates: unknown[] = [];
    for await (const { data } of replayed.events()) {
      updates.push(JSON.parse(data).params.update.sessionUpdate);
      if (updates.length === 2) break;
    }
    expect(updates).toEqual(['user_message_chunk', 'agent_message_chunk']);
    await post({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } }, again);
  });
});

const CAPABLE = {
  ...INITIALIZE,
  params: { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true } } },
};
const READ = `call ${JSON.stringify({ method: 'fs/read_text_file', params: { path: '/work/a' } })}`;

describe('an editor that vanishes while an agent waits for one of its files', () => {
  /** Prompts the program, and vanishes as soon as it is asked for the file. */
  const VANISHING: Readonly<Record<string, () => Promise<void>>> = {
    WebSocket: async () => {
      const socket = new WebSocket(`${system.url.replace('http', 'ws')}/acp/agents/coder`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const received: JsonObject[] = [];
      socket.on('message', (data) => received.push(JSON.parse(String(data))));
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      const client = { received, send: (text: string) => socket.send(text) };
      await answered(client, CAPABLE);
      const { result } = await answered(client, NEW);
      client.send(JSON.stringify(prompt((result as { sessionId: string }).sessionId, READ)));
      await expect.poll(() => received.some(({ method }) => method === 'fs/read_text_file')).toBe(true);
      socket.terminate();
    },
    'Streamable HTTP': async () => {
      const path = '/acp/agents/coder';
      const opened = await call(system.url, { method: 'POST', path, key, json: CAPABLE });
      const headers = { 'acp-connection-id': String(opened.headers['acp-connection-id']) };
      const stream = await call(system.url, { path, key, headers, accept: 'text/event-stream' });
      await call(system.url, { method: 'POST', path, key, headers, json: NEW });
      const { value } = await stream.events().next();
      const { sessionId } = JSON.parse(value?.data ?? '').result;
      const session = { ...headers, 'acp-session-id': sessionId };
      const updates = await call(system.url, { path, key, headers: session, accept: 'text/event-stream' });
      await call(system.url, { method: 'POST', path, key, headers: session, json: prompt(sessionId, READ) });
      for await (const { data } of updates.events()) if (data.includes('fs/read_text_file')) break;
      updates.destroy();
      stream.destroy();
      await call(system.url, { method: 'DELETE', path, key, headers });
    },
  };

  test.each(Object.entries(VANISHING))('over %s, is not waited for', async (_, vanish) => {
    await vanish();
    const listed = await call(system.url, { path: '/e2a/requests?agent=coder', key });
    const [newest] = ((await listed.json()) as { requests: { request_id: string }[] }).requests;
    const frames = await new Caller(system, key).resume(newest?.request_id ?? '');
    expect(JSON.stringify(frames)).toContain('The client has left.');
  });
});

test('a server that stops answers what runs, ends the streams, and leaves nothing open', async () => {
  await using other = await System.start({
    config: { default_agent: 'worker', agents: { worker: moduleAgent('worker') } },
  });
  const { api_key } = await other.caller('editor-agent');
  const opened = await call(other.url, { method: 'POST', path: '/acp', key: api_key, json: INITIALIZE });
  const headers = { 'acp-connection-id': String(opened.headers['acp-connection-id']) };
  const stream = await call(other.url, { path: '/acp', key: api_key, headers, accept: 'text/event-stream' });
  const stopped = other.stop();
  for await (const _ of stream.events()) expect.unreachable();
  expect(await stopped).toEqual({ code: 0, signal: null });
});
