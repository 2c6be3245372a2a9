import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import {
  auth,
  CARD,
  handshake,
  heading,
  isSignedByServer,
  pair,
  query,
  request,
  serverKeyOf,
  signed,
  signingCaller,
} from './a2a-peer.ts';
import { call } from './call.ts';
import { agentModule, System } from './system.ts';

const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: {
      echo: { driver: 'module', module: agentModule('echo'), name: 'Echo', skills: ['echo_text', 'data_read'] },
      words: { driver: 'module', module: agentModule('words') },
    },
    messages: { port: 0 },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const ada = await system.caller('ada-agent');
const eve = await system.caller('eve-agent');
const signer = await signingCaller(system, 'signing-agent');

describe('messages over HTTP', () => {
  test('a handshake is answered with the card of who was meant and what was agreed, signed by the key in it', async () => {
    const { status, message } = await post(handshake(), ada.api_key);
    expect(status).toBe(200);
    expect(message).toMatchObject({
      message_type: 'handshake_ack',
      sender_id: 'echo',
      recipient_id: 'ada-agent',
      payload: {
        negotiated_protocol: 'A2A/1.0',
        negotiated_schema_version: '1.0.0',
        accepted: true,
        agent_card: { agent_id: 'echo', capabilities: ['echo_text', 'data_read'] },
      },
    });
    expect(isSignedByServer(message, createPublicKey(await serverKeyOf(system, ada.api_key)))).toBe(true);
  });

  test('no common version is an error', async () => {
    const { status, message } = await post(handshake({ supported_protocols: ['A2A/9.0'] }), ada.api_key);
    expect(status).toBe(505);
    expect(message).toMatchObject({ message_type: 'error', payload: { error: { code: 'VERSION_NOT_SUPPORTED' } } });
  });

  test('a request is answered by the agent it names; a repeat by what was answered then', async () => {
    const posted = request({ content: 'hello there' });
    const first = await post(posted, ada.api_key);
    expect(first.status).toBe(200);
    expect(first.message).toMatchObject({
      message_type: 'response',
      sender_id: 'echo',
      recipient_id: 'ada-agent',
      correlation_id: posted['message_id'],
      payload: { status: 'success', data: { echoed: 'hello there' } },
    });
    const again = await post({ ...posted, timestamp: new Date().toISOString() }, ada.api_key);
    expect(again.message['message_id']).toBe(first.message['message_id']);
    const other = await post({ ...posted, payload: { method: 'say', parameters: { content: 'else' } } }, ada.api_key);
    expect(other.status).toBe(409);
    expect(other.message).toMatchObject({ message_type: 'error', payload: { error: { code: 'CONFLICT' } } });
  });

  test('an answer in parts is collected, including for a caller whose own agent cannot stream', async () => {
    const stream = { ...request({}), recipient_id: 'words' };
    expect((await post(stream, ada.api_key)).message).toMatchObject({ payload: { data: { text: 'one two' } } });
    const eveCard = { ...CARD, agent_id: 'eve-agent', capabilities: ['no_streaming'] };
    const json = { agent_card: eveCard, endpoint: 'https://eve.example.com/a2a' };
    await call(system.url, { method: 'POST', path: '/agents/register', key: eve.api_key, json });
    const answer = await post({ ...request({}), recipient_id: 'words', sender_id: 'eve-agent' }, eve.api_key);
    expect([answer.status, answer.message]).toMatchObject([200, { payload: { data: { text: 'one two' } } }]);
  });

  test('an id that differs from one of another caller, of this server or a caller in case alone is refused', async () => {
    const register = (agent_id: string, key: string) => {
      const json = { agent_card: { ...CARD, agent_id }, endpoint: 'https://desk.example.com/a2a' };
      return call(system.url, { method: 'POST', path: '/agents/register', key, json });
    };
    expect((await register('front-desk', ada.api_key)).status).toBe(201);
    for (const alike of ['Front-Desk', 'ECHO', 'Ada-agent']) {
      const refused = await register(alike, eve.api_key);
      const detail = expect.stringContaining(`the existing id "${alike.toLowerCase()}" only in upper and lower case`);
      expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'forbidden', detail }]);
    }
    expect((await register('front-desk', ada.api_key)).status).toBe(200);
  });

  test('an unknown agent is reported as not found', async () => {
    const { status, message } = await post({ ...request({}), recipient_id: 'nobody-here' }, ada.api_key);
    expect(status).toBe(404);
    expect(message).toMatchObject({ message_type: 'error', payload: { error: { code: 'AGENT_NOT_REGISTERED' } } });
  });

  test('a query is answered with the agents that can do all of it', async () => {
    const { message } = await post(query({ capabilities: ['echo_text', 'data_read'] }), ada.api_key);
    expect(message).toMatchObject({
      message_type: 'agent_announcement',
      sender_id: 'registry',
      payload: {
        total_count: 1,
        agents: [{ agent_id: 'echo', status: 'healthy', endpoint: `${system.url}/a2a/messages` }],
      },
    });
    const none = await post(query({ capabilities: ['echo_text', 'fly'] }), ada.api_key);
    expect(none.message).toMatchObject({ payload: { total_count: 0, agents: [] } });
  });

  test('a signed query repeated byte for byte gets the stored answer', async () => {
    const text = JSON.stringify(signed(signer, query({ capabilities: ['echo_text'] })));
    const [first, second] = [await (await postRaw(text)).json(), await (await postRaw(text)).json()];
    const { auth: _, timestamp: __, ...stored } = first as JsonObject;
    expect(stored).toMatchObject({ message_type: 'agent_announcement' });
    expect(second).toMatchObject(stored);
  });

  test('a caller with a key that is over its limits gets an error message with the retry time', async () => {
    const limited = await system.caller('limited-agent', {
      permissions: { agents: ['echo'] },
      limits: { requests_per_minute: 1 },
    });
    const own = () => ({ ...request({ content: 'hi' }), sender_id: 'limited-agent' });
    expect((await post(own(), limited.api_key)).status).toBe(200);
    const posted = own();
    const { status, message } = await post(posted, limited.api_key);
    expect([status, message]).toMatchObject([
      429,
      {
        message_type: 'error',
        correlation_id: (posted as JsonObject)['message_id'],
        payload: { error: { code: 'RATE_LIMIT_EXCEEDED', retry_after: expect.any(Number) } },
      },
    ]);
    expect(isSignedByServer(message, createPublicKey(await serverKeyOf(system, ada.api_key)))).toBe(true);
  });

  test('an error is signed in the name of this server, never of an agent elsewhere', async () => {
    const { message } = await post({ ...request({}), recipient_id: 'agent-elsewhere' }, ada.api_key);
    expect(message).toMatchObject({ message_type: 'error', sender_id: 'dragoman' });
    const malformed = await post({ ...request({}), payload: {} }, ada.api_key);
    expect(malformed.message).toMatchObject({ message_type: 'error', sender_id: 'echo' });
  });

  test('an endpoint that requests cannot be relayed to is refused at registration', async () => {
    const json = { agent_card: { ...CARD, agent_id: 'eve-agent' }, endpoint: 'tcp://eve.example.com:8888' };
    const refused = await call(system.url, { method: 'POST', path: '/agents/register', key: eve.api_key, json });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('an http or https URL')]);
  });

  test('a goodbye is not answered', async () => {
    const answer = await postRaw(JSON.stringify({ ...heading('goodbye'), payload: {} }), ada.api_key);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
  });

  test.each([
    ['invalid JSON', '{'],
    ['what names no message', '{"message_type":"request"}'],
  ])('%s is a problem of the transport', async (_name, text) => {
    const answer = await postRaw(text, ada.api_key);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });

  test('a message that is not valid is answered by an error that names it, and what is wrong', async () => {
    const bad: JsonObject = { ...request({}), payload: { parameters: {} } };
    const { status, message } = await post(bad, ada.api_key);
    expect(status).toBe(400);
    expect(message).toMatchObject({
      message_type: 'error',
      correlation_id: bad['message_id'],
      payload: { error: { code: 'VALIDATION_FAILED', details: { issues: [{ pointer: '/payload/method' }] } } },
    });
  });

  test('an Idempotency-Key names one request: another under it is not done', async () => {
    const posted = request({ content: 'once' });
    const send = async (message: JsonObject, key: string) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': key };
      const text = JSON.stringify(message);
      const where = { method: 'POST', path: '/a2a/messages', key: ada.api_key } as const;
      const answer = await call(system.url, { ...where, text, headers });
      return { status: answer.status, message: (await answer.json()) as JsonObject };
    };
    const first = await send(posted, 'pay-once');
    expect(first).toMatchObject({ status: 200, message: { payload: { data: { echoed: 'once' } } } });
    expect((await send(posted, 'pay-once')).message['message_id']).toBe(first.message['message_id']);
    expect(await send(request({ content: 'once' }), 'pay-once')).toMatchObject({
      status: 409,
      message: { payload: { error: { code: 'CONFLICT' } } },
    });
    expect((await send(request({ content: 'once' }), 'pay-again')).status).toBe(200);
    expect((await send(request({ content: 'once' }), 'a b')).status).toBe(400);
  });

  test('a message of an unknown type is refused with that reason', async () => {
    const unknown: JsonObject = { ...request({}), message_type: 'get_capabilities' };
    const { status, message } = await post(unknown, ada.api_key);
    expect([status, message]).toMatchObject([
      400,
      {
        correlation_id: unknown['message_id'],
        payload: { error: { code: 'INVALID_MESSAGE', details: { issues: [{ pointer: '/message_type' }] } } },
      },
    ]);
  });

  test('an old message is refused', async () => {
    const { status, message } = await post({ ...request({}), timestamp: '2025-12-09T15:30:00.000Z' }, ada.api_key);
    expect([status, message]).toMatchObject([
      400,
      { payload: { error: { details: { issues: [{ code: 'stale' }] } } } },
    ]);
  });

  test('ten megabytes are the limit, reported before the body is read', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': String(10 * 1024 * 1024 + 1) };
    const answer = await call(system.url, { method: 'POST', path: '/a2a/messages', key: ada.api_key, headers });
    expect(answer.status).toBe(413);
    const large = await post(request({ content: 'x'.repeat(9_000_000) }), ada.api_key);
    expect(large.status).toBe(200);
  });
});

test('the card of the server has the URL for messages, and the key that signs its messages', async () => {
  const card = (await (await call(system.url, { path: '/.well-known/agent-card.json' })).json()) as JsonObject;
  const { extensions } = card['capabilities'] as { extensions: { uri: string; params: JsonObject }[] };
  const { params = {} } = extensions.find(({ uri }) => uri.endsWith('/a2a-messages')) ?? {};
  expect(params).toMatchObject({ endpoint: `${system.url}/a2a/messages`, agent_id: 'dragoman' });
  const { message } = await post(request({ content: 'signed' }), ada.api_key);
  expect(isSignedByServer(message, createPublicKey(String(params['public_key'])))).toBe(true);
  expect(auth(message)['public_key_fingerprint']).toBe(params['public_key_fingerprint']);
});

describe('the examples of the spec, with ids that fit its patterns', () => {
  const folder = new URL('../../conformance/a2a-messages/accept/', import.meta.url);
  const examples = readdirSync(folder).filter((name) => name.startsWith('spec-example-'));
  const EXPECTED: Readonly<Record<string, readonly [status: number, type: string | undefined]>> = {
    request: [404, 'error'],
    handshake: [200, 'handshake_ack'],
    discover_agents: [200, 'agent_announcement'],
    // Answers to no request.
    response: [404, undefined],
    error: [404, undefined],
    agent_announcement: [404, undefined],
  };

  test.each(examples)('%s', async (name) => {
    const { input } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { input: JsonObject };
    const { auth: _, ...example } = input;
    const sender = example['message_type'] === 'agent_announcement' ? 'registry' : 'ada-agent';
    const key = sender === 'registry' ? system.adminKey : ada.api_key;
    const sent = { ...example, message_id: randomUUID(), sender_id: sender, timestamp: new Date().toISOString() };
    const { status, message } = await post(sent, key);
    const [wanted, type] = EXPECTED[String(example['message_type'])] ?? [];
    expect([status, message['message_type']]).toEqual([wanted, type]);
  });
});

describe('the sender', () => {
  test.each([
    ['nobody', undefined, 'ada-agent', 401],
    ["another's key", eve.api_key, 'ada-agent', 403],
    ['its own key', ada.api_key, 'ada-agent', 200],
  ])('an unsigned message with %s', async (_name, key, sender_id, status) => {
    expect((await post({ ...request({}), sender_id }, key)).status).toBe(status);
  });

  test('a signature is enough, for each kind of key', async () => {
    const kinds: Readonly<Record<string, () => { privateKey: KeyObject; publicKey: KeyObject }>> = {
      ed25519: () => generateKeyPairSync('ed25519'),
      'ecdsa-p256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      'rsa-pss': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    };
    for (const [kind, make] of Object.entries(kinds)) {
      const own = await signingCaller(system, `signs-${kind}`, make());
      const { status, message } = await post(signed(own, request({ content: kind })));
      expect([kind, status, message]).toMatchObject([kind, 200, { payload: { data: { echoed: kind } } }]);
    }
  });

  test('a signature counts with a key too, and only with the key of the sender', async () => {
    const message = signed(signer, request({}));
    expect((await post(message, signer.api_key)).status).toBe(200);
    expect((await post(signed(signer, request({})), ada.api_key)).status).toBe(403);
  });

  test.each<[string, (message: JsonObject) => JsonObject, number]>([
    ['another word', (message) => ({ ...message, payload: { method: 'other' } }), 401],
    ['another recipient', (message) => ({ ...message, recipient_id: 'echo-two' }), 401],
    ['another signer', (message) => ({ ...message, auth: { ...auth(message), agent_id: 'ada-agent' } }), 403],
    [
      'another sender',
      (message) => ({ ...message, sender_id: 'ada-agent', auth: { ...auth(message), agent_id: 'ada-agent' } }),
      401,
    ],
    [
      'another fingerprint',
      (message) => ({ ...message, auth: { ...auth(message), public_key_fingerprint: `sha256:${'0'.repeat(64)}` } }),
      401,
    ],
    [
      'an unknown name',
      (message) => ({ ...message, sender_id: 'unknown-agent', auth: { ...auth(message), agent_id: 'unknown-agent' } }),
      401,
    ],
  ])('with %s it proves nothing', async (_name, change, status) => {
    const { status: answered, message } = await post(change(signed(signer, request({}))));
    expect(answered).toBe(status);
    if (status === 401) {
      expect(message['payload']).toEqual({
        error: { code: 'AUTHENTICATION_FAILED', message: 'Authentication required.' },
      });
    }
  });

  test('times too far apart or too old are refused', async () => {
    const at = new Date(Date.now() - 6_000).toISOString();
    expect((await post(signed(signer, { ...request({}), timestamp: at }))).status).toBe(400);
    const old = new Date(Date.now() - 400_000).toISOString();
    expect((await post(signed(signer, { ...request({}), timestamp: old }, { timestamp: old }))).status).toBe(400);
  });

  test('the same bytes again get the stored answer, the same nonce with others does not', async () => {
    const message = signed(signer, request({ content: 'once' }));
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(message)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ message: answer }) => answer['message_id'])).size).toBe(1);
    const reused = signed(signer, request({ content: 'twice' }), { nonce: String(auth(message)['nonce']) });
    const refused = await post(reused);
    expect([refused.status, refused.message]).toMatchObject([409, { payload: { error: { code: 'NONCE_REUSED' } } }]);
    const asQuery = signed(signer, query({}), { nonce: String(auth(message)['nonce']) });
    expect((await post(asQuery)).status).toBe(409);
  });

  test('a key that is taken away is worth nothing at once; two are good while one replaces the other', async () => {
    const own = await signingCaller(system, 'rotating-agent');
    const next = pair();
    const put = (public_key: string) => {
      const json = { agent_id: 'rotating-agent', permissions: { agents: ['*'] }, public_key };
      return call(system.url, { method: 'POST', path: '/admin/v1/agents', key: system.adminKey, json });
    };
    await put(`${next.pem}${own.pem}`);
    expect((await post(signed(own, request({})))).status).toBe(200);
    expect((await post(signed({ ...own, ...next }, request({})))).status).toBe(200);
    await put(next.pem);
    expect((await post(signed(own, request({})))).status).toBe(401);
    expect((await post(signed({ ...own, ...next }, request({})))).status).toBe(200);
  });
});

test('after a kill a replay is still one, and its nonce is still used', async () => {
  const message = signed(signer, request({ content: 'durable' }));
  const before = await post(message);
  await system.kill();
  await system.start();
  const after = await post(message);
  expect([after.status, after.message['message_id']]).toEqual([200, before.message['message_id']]);
  const reused = signed(signer, request({ content: 'else' }), { nonce: String(auth(message)['nonce']) });
  expect((await post(reused)).status).toBe(409);
});

function postRaw(text: string, key?: string) {
  const headers = { 'content-type': 'application/json' };
  return call(system.url, { method: 'POST', path: '/a2a/messages', text, headers, ...(key !== undefined && { key }) });
}

async function post(message: JsonObject, key?: string): Promise<{ status: number; message: JsonObject }> {
  const answer = await postRaw(JSON.stringify(message), key);
  return { status: answer.status, message: (await answer.json()) as JsonObject };
}
