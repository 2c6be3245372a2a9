import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { listening } from '../../packages/core/test-support/ports.ts';
import { isObject, type Json, type JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from '../system/call.ts';
import { Caller, fresh, read } from '../system/caller.ts';
import { System } from '../system/system.ts';

// Agents behind their drivers that mean harm with their answers.

type Answer = (message: JsonObject, response: ServerResponse, request: IncomingMessage) => unknown;

/** One server for every protocol: it does what the test says. */
const foreign: { answer: Answer } = { answer: (_, response) => response.end() };
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  const json: Json = text === '' ? {} : JSON.parse(text);
  foreign.answer(isObject(json) ? json : {}, response, request);
});
const url = `http://127.0.0.1:${await listening(server)}`;

const ANSWER_BYTES = 4_000_000;
const system = await System.start({
  config: {
    agents: {
      http: { driver: 'http', url },
      a2a: { driver: 'a2a', url, version: '1.0' },
      openai: { driver: 'openai', base_url: `${url}/v1`, model: 'm' },
      acp: { driver: 'acp', url: `${url}/acp` },
      // One that could not be started is not tried again at once.
      opener: { driver: 'acp', url: `${url}/acp` },
    },
    answer_bytes: ANSWER_BYTES,
  },
});
const { api_key: key } = await system.caller('ada-agent');
const ada = new Caller(system, key);
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  foreign.answer = (_, response) => response.end();
});

/** The last frame of an answer. */
async function ask(agent: string, more: JsonObject = {}) {
  const envelope = { request_id: fresh(), method: 'chat.send', params: { content: 'x' }, agent_ref: { id: agent } };
  const answer = await ada.post({ ...envelope, is_stream: true, ...more }, { accept: 'application/x-ndjson' });
  let last = '';
  for await (const text of answer.frames()) last = text;
  return read(last);
}

function sse(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

const event = (json: Json) => `data: ${JSON.stringify(json)}\n\n`;

/** Processor time that the event loop has had, in milliseconds: others on the machine do not change it. */
function eventLoopMs(): number {
  const [ran = ''] = readFileSync(`/proc/${system.pid}/task/${system.pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}

/** What an answer of some megabytes costs, with room for slow machines; what is quadratic takes many times as long. */
const MOST_MS = 2_000;

const BODIES: Readonly<Record<string, Buffer>> = {
  'nested without end': Buffer.from('['.repeat(6_000_000)),
  'as wide as can be': Buffer.from(`[${'{},'.repeat(2_000_000)}{}]`),
  'one endless text': Buffer.from(`"${'x'.repeat(9_000_000)}`),
  'one endless number': Buffer.from('9'.repeat(6_000_000)),
  'broken UTF-8': Buffer.from([0x22, 0xc3, 0x28, 0xff, 0xfe, 0x22]),
  'repeated keys': Buffer.from(`{"a":"${'x'.repeat(100_000)}","b":1,"b":2}`),
  'prototype names': Buffer.from('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}'),
};

describe.each(['http', 'a2a', 'openai', 'acp'])('the answer of an agent behind the driver %s', (agent) => {
  test.each(Object.entries(BODIES))('that is %s is a failure, and costs little', async (_, body) => {
    for (const type of ['application/json', 'text/event-stream']) {
      const bytes =
        type === 'application/json' ? body : Buffer.concat([Buffer.from('data: '), body, Buffer.from('\n\n')]);
      foreign.answer = (_message, response) => response.writeHead(200, { 'content-type': type }).end(bytes);
      const before = eventLoopMs();
      const { response_kind: kind, body: error } = await ask(agent);
      expect(eventLoopMs() - before).toBeLessThan(MOST_MS);
      expect(kind).toBe('e2a.error');
      expect(JSON.stringify(error)).not.toMatch(/node_modules|\.ts:|\.js:|at async/);
    }
    expect((await call(system.url, { path: '/health' })).status).toBe(200);
  });
});

describe('an answer without end', () => {
  test.each([true, false])('is cut off, with is_stream %s', async (is_stream) => {
    let isOver = false;
    const line = `${JSON.stringify({ response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'x'.repeat(60_000) } })}\n`;
    foreign.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const more = () => {
        while (!isOver && response.write(line));
      };
      response.on('drain', more).on('close', () => {
        isOver = true;
      });
      more();
    };
    const { body } = await ask('http', { is_stream });
    expect(body['message']).toBe(
      `The answer exceeds ${ANSWER_BYTES} bytes; answer_bytes of the configuration is the limit.`,
    );
    await expect.poll(() => isOver).toBe(true);
  });
});

describe('a task of a remote agent', () => {
  const working = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
  const withArtifacts = (artifacts: Json[]) =>
    event({ jsonrpc: '2.0', id: 1, result: { task: { ...working, artifacts } } });

  test('with very many artifacts ends, and costs no more than other answers of its length', async () => {
    const artifacts = Array.from({ length: 38_000 }, (_, id) => ({
      artifactId: `${id}`,
      parts: [{ text: 'words '.repeat(20) }],
    }));
    foreign.answer = (_, response) => sse(response).end(withArtifacts(artifacts));
    const before = eventLoopMs();
    expect((await ask('a2a')).body['message']).toBe('The answer has more than 1000 artifacts.');
    expect(eventLoopMs() - before).toBeLessThan(MOST_MS);
  });

  test('that collects data without end ends', async () => {
    let sent = 0;
    foreign.answer = (_, response) => {
      sse(response).write(withArtifacts([]));
      const data = Array(20_000).fill('twenty characters or so');
      const artifact = { artifactId: 'a', parts: [{ data }] };
      const update = event({
        jsonrpc: '2.0',
        id: 1,
        result: { artifactUpdate: { taskId: 't', contextId: 'c', append: true, artifact } },
      });
      const more = () => {
        while (!response.destroyed && response.write(update)) sent += update.length;
      };
      response.on('drain', more);
      more();
    };
    expect((await ask('a2a')).body['message']).toMatch(/^The answer has more than \d+ characters\.$/);
    expect(sent).toBeLessThan(64_000_000);
  });
});

test('a model that calls very many tools at once ends, and costs no more than other answers of its length', async () => {
  const calls = Array.from({ length: 38_000 }, (_, index) => ({ index, function: { name: 'f', arguments: '{}' } }));
  foreign.answer = (_, response) => sse(response).end(event({ choices: [{ index: 0, delta: { tool_calls: calls } }] }));
  const before = eventLoopMs();
  expect((await ask('openai')).body['message']).toContain('sent more than 32 tool calls at once');
  expect(eventLoopMs() - before).toBeLessThan(MOST_MS);
});

describe('a remote ACP agent', () => {
  /** The open streams by session, and what to do when a prompt arrives on it. */
  function acpServer(onPrompt: (stream: ServerResponse, prompt: JsonObject) => void) {
    const streams = new Map<string, ServerResponse[]>();
    const sent = (session: string, message: JsonObject) => streams.get(session)?.[0]?.write(event(message));
    foreign.answer = (message, response, { method: verb, headers }) => {
      const session = String(headers['acp-session-id'] ?? '');
      if (verb === 'GET') {
        streams.set(session, [...(streams.get(session) ?? []), sse(response)]);
        response.write(': here\n\n');
        return;
      }
      const { id = null, method } = message;
      if (method === 'initialize') {
        response.writeHead(200, { 'content-type': 'application/json', 'acp-connection-id': 'c1' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: 1, agentCapabilities: {} } }));
        return;
      }
      response.writeHead(202).end();
      if (method === 'session/new') sent('', { jsonrpc: '2.0', id, result: { sessionId: 's1' } });
      else if (method === 'session/prompt') onPrompt(streams.get('s1')?.[0] as ServerResponse, message);
    };
    return streams;
  }

  test('cannot make the server open streams for sessions that it did not ask for', async () => {
    const streams = acpServer((stream, { id = null }) => {
      for (let count = 0; count < 200; count += 1) {
        stream.write(event({ jsonrpc: '2.0', id: 1000 + count, result: { sessionId: `other-${count}` } }));
      }
      stream.write(event({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } }));
    });
    expect((await ask('opener')).status).toBe('succeeded');
    expect([...streams.keys()].sort()).toEqual(['', 's1']);
  });
});
