import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../packages/protocols/src/json.ts';
import { Caller, fresh } from './caller.ts';
import { moduleAgent, System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

/**
 * Valid messages of every endpoint, each with one value replaced by an unexpected one. What is refused is refused in
 * words; nothing is our fault, and no other caller is affected.
 */
const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: { echo: moduleAgent('echo') },
    // No server listens there.
    gate: { callbacks: ['127.0.0.1:9'] },
    mailbox: { requests_per_minute: 1_000_000, callbacks: { retries: 0 } },
  },
});
const AT_ONCE = 8;
const connections = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
afterAll(async () => {
  connections.destroy();
  await system[Symbol.asyncDispose]();
});
const EVERYTHING = { permissions: { agents: ['*'], operations: ['*'], apis: ['*'], credentials: ['*'], tools: ['*'] } };
const foe = await system.caller('foe-agent', EVERYTHING);
const bystander = new Caller(system, (await system.caller('bystander-agent')).api_key);

const CARD = {
  agent_id: 'foe-agent',
  name: 'Foe',
  version: '1.0.0',
  description: 'tries',
  capabilities: ['data_read'],
  supported_protocols: ['A2A/1.0'],
};
const message = (message_type: string, payload: JsonObject) => (): JsonObject => ({
  message_id: randomUUID(),
  message_type,
  sender_id: 'foe-agent',
  recipient_id: message_type === 'discover_agents' ? 'registry' : 'echo',
  timestamp: new Date().toISOString(),
  payload,
});
const gateway = (method: string, params: JsonObject) => (): JsonObject => ({ request_id: fresh(), method, params });

/** A valid message of each endpoint, made again each time: most of them are accepted once. */
const ENDPOINTS: Readonly<
  Record<string, { path: string; sound: () => JsonObject; method?: string; isAdmin?: boolean }>
> = {
  'a chat': {
    path: '/e2a',
    sound: () => ({
      request_id: fresh(),
      session_id: 'talk',
      method: 'chat.send',
      params: { content: 'hello' },
      agent_ref: { id: 'echo' },
      provenance: { source_protocol: 'acp', details: {} },
      metadata: {},
    }),
  },
  history: { path: '/e2a', sound: gateway('history.get', { session_id: 'talk', page_idx: 1 }) },
  'a session': { path: '/e2a', sound: gateway('session.create', { session_id: 'made', title: 'A talk' }) },
  'an interruption': { path: '/e2a', sound: gateway('chat.interrupt', { session_id: 'talk', intent: 'cancel' }) },
  'a request': { path: '/a2a/messages', sound: message('request', { method: 'say', parameters: { content: 'x' } }) },
  'a handshake': { path: '/a2a/messages', sound: message('handshake', { agent_card: CARD }) },
  'a question for agents': {
    path: '/a2a/messages',
    sound: message('discover_agents', { capabilities: ['data_read'] }),
  },
  'a message of the mailbox': {
    path: '/a2a',
    sound: () => ({
      version: '0.3.0',
      from: { name: 'Foe', callbackUrl: 'https://127.0.0.1:9/in' },
      to: { name: 'echo' },
      message: { content: 'hello', contentType: 'text/plain' },
      metadata: { messageId: fresh(), threadId: 'talk', priority: 'low', expiresAt: '2999-01-01T00:00:00Z' },
    }),
  },
  'a registration': {
    path: '/agents/register',
    sound: () => ({ agent_card: CARD, endpoint: 'https://foe.example.com/a2a' }),
  },
  'a workflow': {
    path: '/api/v1/workflows/execute',
    sound: () => ({ workflow: workflowOf({ wait: { Wait: { duration: 0 } } }), onError: 'stop', timeout_ms: 1000 }),
  },
  'a search': { path: '/api/v1/knowledge/search', sound: () => ({ query: 'sort', top_k: 3, token_budget: 100 }) },
  'an agent': {
    path: '/admin/v1/agents',
    sound: () => ({ agent_id: fresh(), description: 'made', permissions: { agents: ['echo'] } }),
    isAdmin: true,
  },
  'a key': {
    path: '/admin/v1/keys',
    sound: () => ({ agent_id: 'foe-agent', role: 'agent', description: 'one more' }),
    isAdmin: true,
  },
  'a credential': {
    path: '/admin/v1/credentials/secret',
    method: 'PUT',
    sound: () => ({ type: 'api-key', value: 'a-secret-value', hosts: ['api.example.com'], description: 'for tests' }),
    isAdmin: true,
  },
};

describe.each(Object.entries(ENDPOINTS))('%s', (_name, { path, sound, method = 'POST', isAdmin = false }) => {
  const key = isAdmin ? system.adminKey : foe.api_key;

  test('is taken as it is', async () => {
    const { status, text } = await send(method, path, { key, text: JSON.stringify(sound()) });
    expect(status, text).toBeLessThan(300);
  });

  test('with anything in any place of it is never our fault', async () => {
    const texts = mutants(sound);
    const wrong: string[] = [];
    const inTurn = async () => {
      for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
        const answer = await send(method, path, { key, text });
        if (answer.status === 500 || /INTERNAL|"internal"/.test(answer.text)) wrong.push(`${text}: ${answer.text}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, inTurn));
    expect(wrong).toEqual([]);
    expect(await bystander.rpc('session.list', {})).toMatchObject({ page_idx: 1 });
  });
});

test('a peer that disconnects in the middle of its answers is not a failure', async () => {
  for (let round = 0; round < 20; round++) {
    const socket = await new Caller(system, foe.api_key).socket();
    const params = { content: 'word '.repeat(50) };
    const ids = Array.from({ length: 10 }, () => fresh());
    for (const request_id of ids) socket.send({ request_id, method: 'chat.send', is_stream: true, params });
    await socket.frames(ids[0] ?? '').next();
    socket.close();
    await socket.closed;
  }
  expect(await bystander.rpc('session.list', {})).toMatchObject({ page_idx: 1 });
});

test('nothing of it is in the log as an error', () => {
  expect(system.log.split('\n').filter((line) => /"level":(?:50|60)/.test(line))).toEqual([]);
});

/** One text for each value in each place, as JSON text: some are what no object here could hold. */
function mutants(sound: () => JsonObject): string[] {
  return placesIn(sound()).flatMap((place) => VALUES.map((value) => withAt(sound(), place, value)));
}

function placesIn(json: Json, at: readonly string[] = []): (readonly string[])[] {
  if (!isObject(json) && !Array.isArray(json)) return [at];
  return [at, ...Object.entries(json).flatMap(([name, inner]) => placesIn(inner, [...at, name]))];
}

function withAt(json: Json, [first, ...rest]: readonly string[], value: string): string {
  if (first === undefined) return value;
  const inner = (name: string, given: Json) => (name === first ? withAt(given, rest, value) : JSON.stringify(given));
  if (Array.isArray(json)) return `[${json.map((item, at) => inner(String(at), item)).join()}]`;
  const members = Object.entries(json as JsonObject).map(
    ([name, item]) => `${JSON.stringify(name)}:${inner(name, item)}`,
  );
  return `{${members.join()}}`;
}

function send(method: string, path: string, { key, text }: { key: string; text: string }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const outgoing = request(new URL(path, system.url), { method, headers, agent: connections });
    outgoing.once('response', async (answer) => {
      resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(await answer.toArray()).toString() });
    });
    outgoing.once('error', reject).end(text);
  });
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

const VALUES: readonly string[] = [
  ...['null', 'true', '0', '-1', '-0', '0.5', '1e21', '1e308', '9007199254740991', '9007199254740993', '1e400'],
  ...['[]', '{}', '[null]', '[{}]', nested(55), nested(80)],
  ...['{"toString":1,"valueOf":2}', '{"toJSON":1,"then":1}', '{"__proto__":{"x":1}}', '{"constructor":{"x":1}}'],
  ...['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\u202ea"', '"\\r\\nx: y"'],
  ...[
    ...[
      '',
      ' ',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'valueOf',
      '*',
      '../../x',
      '%00',
      '{{x}}',
      '[',
    ],
    ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', '+275760-09-13T00:00:00Z', '2026-02-30T00:00:00Z'],
    ...['https://me:pw@a.example/', 'file:///x', 'x'.repeat(600), 'a\u0301'.repeat(3000)],
  ].map((text) => JSON.stringify(text)),
];
