import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../packages/protocols/src/json.ts';
import { type CallOptions, call, type HttpAnswer } from './call.ts';
import { isSigned, Receiver } from './receiver.ts';
import { agentModule, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

const TEE = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:18608';
const MINE = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:4321';
const OTHER = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:777';

const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
const module = agentModule('letters');
const system = await System.start({
  config: {
    default_agent: 'letters',
    agents: {
      letters: { driver: 'module', module, max_parallel: 64 },
      scholar: { driver: 'module', module, name: 'The Scholar', agentId: OTHER, skills: ['analyze_address'] },
      single: { driver: 'module', module, max_parallel: 1 },
    },
    mailbox: {
      anonymous: ['letters', 'scholar', 'single'],
      name: 'Mr. Tee',
      agentId: TEE,
      iconUrl: 'https://a2a.example/tee.png',
      provider: { organization: 'Tee & Sons', url: 'https://a2a.example' },
      supportedTrust: ['reputation'],
      active: false,
      requests_per_minute: 100_000,
      max_concurrent: 100,
      answer_within_ms: 800,
      thread_messages: 6,
      callbacks: { backoff_ms: 20, timeout_ms: 9_000 },
    },
    gate: { callbacks: [receiver.hostPort], ca: [authority.path] },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});

const mine = await system.caller('my-agent', { permissions: { agents: ['*'] }, agentId: MINE });
const other = await system.caller('other-agent');

describe('every example of the spec', () => {
  test('a simple text message is answered in the spec’s shape', async () => {
    const [status, body] = await post({
      version: '0.3.0',
      from: { name: 'TestAgent' },
      message: { contentType: 'text/plain', content: 'Check reputation for 0x742d' },
    });
    expect([status, body]).toEqual([
      200,
      {
        version: '0.3.0',
        messageId: expect.stringMatching(MESSAGE_ID),
        timestamp: expect.stringMatching(TIME),
        replyTo: expect.stringMatching(MESSAGE_ID),
        threadId: null,
        from: { name: 'Mr. Tee', agentId: TEE },
        to: { name: 'TestAgent', agentId: null, callbackUrl: null },
        message: { contentType: 'text/plain', content: 'You said: Check reputation for 0x742d' },
        metadata: { status: 'success', taskType: null, processingTime: expect.any(Number) },
      },
    ]);
  });

  test('with agent identity, under its key', async () => {
    const message = {
      version: '0.3.0',
      from: { name: 'MyAgent', agentId: MINE },
      message: { contentType: 'text/plain', content: 'Check reputation' },
      metadata: { taskType: 'check_reputation' },
    };
    const [status, body] = await post(message, mine.api_key);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      to: { name: 'MyAgent', agentId: MINE },
      metadata: { status: 'success', taskType: 'check_reputation' },
    });
  });

  test('a structured JSON message keeps its content', async () => {
    const content = { task: 'analyze', address: '0x742d', networks: ['base', 'ethereum'] };
    const [, body] = await post({
      version: '0.3.0',
      from: 'MyAgent',
      message: { contentType: 'application/json', content },
      metadata: { priority: 'urgent' },
    });
    expect(body['message']).toEqual({
      contentType: 'application/json',
      content: { result: content, status: 'success' },
    });
  });

  test('with a callback: acknowledged at once, answered there, signed', async () => {
    const before = receiver.received.length;
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const [status, ack] = await post(
      {
        version: '0.3.0',
        from: { name: 'MyAgent', agentId: MINE, callbackUrl: receiver.url() },
        message: { contentType: 'application/json', content: { task: 'analyze', wait_ms: 50 } },
        metadata: { threadId: 'thread_analysis_1', priority: 'urgent', expiresAt },
      },
      mine.api_key,
    );
    expect([status, ack]).toEqual([
      200,
      {
        version: '0.3.0',
        messageId: expect.stringMatching(MESSAGE_ID),
        timestamp: expect.stringMatching(TIME),
        replyTo: expect.stringMatching(MESSAGE_ID),
        threadId: 'thread_analysis_1',
        from: { name: 'Mr. Tee', agentId: TEE },
        to: { name: 'MyAgent', agentId: MINE, callbackUrl: receiver.url() },
        message: { contentType: 'application/json', content: { status: 'received', messageId: ack['replyTo'] } },
        metadata: { status: 'received', taskType: null, processingTime: null },
      },
    ]);
    const callback = (await receiver.until(before + 1))[before];
    if (callback === undefined) throw new Error('no message was received');
    expect(callback.headers['content-type']).toBe('application/json');
    const { publicKey } = ((await get('/agent'))[1] as { callbacks: { publicKey: string } }).callbacks;
    const { webhook_secret: secret } = mine as unknown as { webhook_secret: string };
    expect(secret).toMatch(/^whsec_/);
    expect(isSigned(callback, { secret, publicKey })).toBe(true);
    expect(isSigned({ ...callback, body: `${callback.body} ` }, { secret, publicKey })).toBe(false);
    expect(Math.abs(Date.now() / 1000 - Number(callback.headers['webhook-timestamp']))).toBeLessThan(30);
    const body = JSON.parse(callback.body);
    expect(body).toMatchObject({
      replyTo: ack['replyTo'],
      threadId: 'thread_analysis_1',
      message: { content: { result: { task: 'analyze', wait_ms: 50 }, status: 'success' } },
      metadata: { status: 'success' },
    });
    expect(callback.id).toBe(body.messageId);
    expect(await get(`/a2a/messages/${ack['replyTo']}`, mine.api_key)).toEqual([200, body]);
  });

  test('threading without a key: the thread is echoed, a reply to the answer is taken', async () => {
    const thread = { threadId: 'thread_reputation_convo' };
    const [, first] = await post({ from: { name: 'MyAgent' }, message: 'What is my score?', metadata: thread });
    expect(first['threadId']).toBe('thread_reputation_convo');
    const second = {
      from: { name: 'MyAgent' },
      message: 'Can you provide details?',
      metadata: { ...thread, replyTo: first['messageId'] ?? null },
    };
    expect(await post(second)).toMatchObject([200, { threadId: 'thread_reputation_convo' }]);
  });

  test.each<[string, JsonObject]>([
    ['is there', { message: 'What is my score?' }],
    ['takes its time', { message: { content: { wait_ms: 1200 } } }],
    ['goes to a callback', { from: { name: 'MyAgent', callbackUrl: receiver.url('/score') }, message: 'My score?' }],
  ])('threading with a key: a reply to the received message is accepted when the answer %s', async (name, question) => {
    const id = name.replaceAll(' ', '_');
    const metadata = { threadId: `thread_${id}`, messageId: `msg_question_${id}` };
    const [, first] = await post({ from: 'MyAgent', ...question, metadata }, mine.api_key);
    const reply = {
      from: { name: 'MyAgent' },
      message: 'Can you provide details?',
      metadata: { threadId: metadata.threadId, messageId: `msg_reply_${id}`, replyTo: first['messageId'] ?? null },
    };
    const second = await post(reply, mine.api_key);
    expect(second).toMatchObject([200, { threadId: metadata.threadId, metadata: { status: 'success' } }]);
    expect(await post(reply, mine.api_key)).toEqual(second);
    const [, { messages }] = await get(`/a2a/threads/${metadata.threadId}`, mine.api_key);
    const kept = messages as (JsonObject & { metadata: JsonObject })[];
    const replied = kept.find(({ messageId }) => messageId === reply.metadata.messageId)?.metadata['replyTo'];
    // It names a message of the thread, which an acknowledgement is not: then it is the question.
    expect(kept.map(({ messageId }) => messageId)).toContain(replied);
    expect(replied === metadata.messageId).toBe(name !== 'is there');
    const elsewhere = { ...reply, metadata: { threadId: 'thread_elsewhere', replyTo: first['messageId'] ?? null } };
    expect(await post(elsewhere, mine.api_key)).toMatchObject([200, { metadata: { warnings: [UNKNOWN_REPLY] } }]);
    const theirs = { ...reply, metadata: { ...reply.metadata, messageId: `msg_theirs_${id}` } };
    expect(await post(theirs, other.api_key)).toMatchObject([200, { metadata: { warnings: [UNKNOWN_REPLY] } }]);
  });

  test.each(fixtures('accept'))('accepted: $name', async ({ fixture }) => {
    const [status, body] = await post(fixture.input);
    // Without a key, recipients this server does not have look like those that are not listed; nothing of these is malformed.
    expect([200, 401], JSON.stringify(body)).toContain(status);
  });

  test.each(fixtures('reject'))('refused in the spec’s words and order: $name', async ({ fixture }) => {
    // Where the sentence is ours, the way out stands behind it.
    const errors = fixture.expect.issues.map(({ code, message }) =>
      message !== undefined && OURS.has(code) ? expect.stringContaining(`${message}; `) : message,
    );
    const [status, body] = await post(fixture.input);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'Invalid message format', timestamp: expect.stringMatching(TIME) });
    expect(Object.keys(body).sort()).toEqual(['error', 'errors', 'timestamp']);
    if (errors.every((text) => text !== undefined)) expect(body['errors']).toEqual(errors);
  });

  test('all errors at once, in order, whole', async () => {
    const input = { to: { name: 'Mr. Tee', agentId: '18608' }, message: 'Hello' };
    expect(await post(input)).toEqual([
      400,
      {
        error: 'Invalid message format',
        errors: [
          'Missing required field: from',
          'Invalid agentId format (expected CAIP-2: eip155:chainId:registry:tokenId)',
        ],
        timestamp: expect.stringMatching(TIME),
      },
    ]);
  });
});

describe('other statuses, in the mailbox’s shape', () => {
  const refusal = (error: string, message: string) => ({ error, message, timestamp: expect.stringMatching(TIME) });

  test('400 for invalid JSON', async () => {
    const answer = await raw('{"from":', 'application/json');
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'Invalid message format', errors: [expect.any(String)] });
  });

  test('404 for an unknown agent, by name and by agentId', async () => {
    expect(await post({ from: 'Me', to: 'Nobody', message: 'hi' }, other.api_key)).toEqual([
      404,
      refusal('Not found', 'Unknown agent "Nobody".'),
    ]);
    expect((await post({ from: 'Me', to: 'scholer', message: 'hi' }, other.api_key))[1]).toEqual(
      refusal('Not found', 'Unknown agent "scholer". Did you mean scholar?'),
    );
    const unknown = OTHER.replace('777', '778');
    const to = { name: 'The Scholar', agentId: unknown };
    expect((await post({ from: 'Me', to, message: 'hi' }, other.api_key))[0]).toBe(404);
  });

  test('405 with Allow', async () => {
    const answer = await call(system.url, { method: 'PUT', path: '/a2a' });
    expect([answer.status, answer.headers['allow'], await answer.json()]).toEqual([
      405,
      'POST',
      refusal('Method not allowed', 'HTTP method not allowed. Use POST.'),
    ]);
  });

  test('413 beyond 100 kB', async () => {
    const answer = await raw(JSON.stringify({ from: 'Me', message: 'x'.repeat(100_001) }), 'application/json');
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: 'Message too large' }]);
  });

  test('415 for another content type', async () => {
    const answer = await raw('from=Me', 'application/x-www-form-urlencoded');
    expect([answer.status, await answer.json()]).toMatchObject([415, { error: 'Unsupported content type' }]);
  });

  test('401 for a key that is not good, and 403 for an agent the caller may not reach', async () => {
    expect(await post({ from: 'Me', message: 'hi' }, 'dgm_wrong')).toEqual([
      401,
      refusal('Unauthorized', 'Invalid API key: it is unknown or was revoked. Ask the operator for another key.'),
    ]);
    const narrow = await system.caller('narrow-agent', { permissions: { agents: ['scholar'] } });
    const there = await post({ from: 'Me', to: 'single', message: 'hi' }, narrow.api_key);
    const absent = await post({ from: 'Me', to: 'nobody', message: 'hi' }, narrow.api_key);
    const forbidden = (to: string) =>
      refusal('Forbidden', `Permission denied. Ask the operator to add "${to}" to permissions.agents.`);
    expect(there).toEqual([403, forbidden('single')]);
    expect(absent).toEqual([403, forbidden('nobody')]);
  });

  test('an agent that fails answers with an error, and its own code', async () => {
    expect(await post({ from: 'Me', message: { content: { fail: true } } })).toMatchObject([
      200,
      { message: { content: { error: 'out of ink', code: 'PEN.EMPTY' } }, metadata: { status: 'error' } },
    ]);
  });
});

describe('where a message goes', () => {
  const answererOf = async (message: JsonObject) => (await post({ from: 'Me', message: 'hi', ...message }))[1]['from'];
  const scholar = { name: 'The Scholar', agentId: OTHER };

  test.each([
    ['an id', { to: 'scholar' }, scholar],
    ['a name', { to: { name: 'The Scholar' } }, scholar],
    ['an agentId in another case', { to: { agentId: OTHER.replace('A169FB', 'a169fb') } }, scholar],
    ['an agentId, whatever the name', { to: { name: 'Mr. Tee', agentId: OTHER } }, scholar],
    ['the mailbox itself', { to: 'Mr. Tee' }, { name: 'Mr. Tee', agentId: TEE }],
    ['nobody', {}, { name: 'Mr. Tee', agentId: TEE }],
  ])('to %s', async (_, message, from) => {
    expect(await answererOf(message)).toEqual(from);
  });

  test('without a recipient, to the agent with the task type among its skills', async () => {
    const [, body] = await post({
      from: 'Me',
      message: { content: { report: true } },
      metadata: { taskType: 'analyze_address' },
    });
    expect(reported(body).envelope['agent_ref']).toMatchObject({ id: 'scholar', name: 'Mr. Tee' });
  });

  test('what waits goes by priority', async () => {
    const order: string[] = [];
    const send = async (name: string, wait: number, priority: string) => {
      await post(
        { from: 'Me', to: 'single', message: { content: { name, wait_ms: wait } }, metadata: { priority } },
        mine.api_key,
      );
      order.push(name);
    };
    const all = [send('first', 500, 'normal')];
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const priority of ['low', 'normal', 'urgent']) {
      all.push(send(priority, 5, priority));
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await Promise.all(all);
    expect(order).toEqual(['first', 'urgent', 'normal', 'low']);
  });

  test('a message that expires while it waits is not run, and gets the reason', async () => {
    const busy = post({ from: 'Me', to: 'single', message: { content: { wait_ms: 600 } } }, mine.api_key);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const expiresAt = new Date(Date.now() + 300).toISOString();
    const late = await post({ from: 'Me', to: 'single', message: 'late', metadata: { expiresAt } }, mine.api_key);
    await busy;
    expect(late[1]).toMatchObject({ metadata: { status: 'error' }, message: { content: { code: 'E2A.EXPIRED' } } });
  });
});

describe('an answer that takes longer', () => {
  test.each([
    ['with a key', mine.api_key],
    ['without one', undefined],
  ])('is acknowledged, and fetched later: %s', async (_, key) => {
    const [status, ack] = await post({ from: 'Me', message: { content: { wait_ms: 1200 } } }, key);
    expect([status, ack]).toMatchObject([200, { metadata: { status: 'received' } }]);
    const path = `/a2a/messages/${ack['replyTo']}`;
    expect(await get(path, key)).toEqual([200, ack]);
    let answer = await get(path, key);
    while ((answer[1]['metadata'] as JsonObject)['status'] === 'received') answer = await get(path, key);
    expect(answer[1]).toMatchObject({ replyTo: ack['replyTo'], metadata: { status: 'success' } });
    const absent = await get('/a2a/messages/never-was', other.api_key);
    expect(timeless(await get(path, other.api_key))).toEqual(timeless(absent));
  });

  test('is found by every id a message may have, and so is its thread', async () => {
    for (const id of ['😀'.repeat(500), 'x'.repeat(500), 'a b/c?d#e%41+\\', '__proto__']) {
      const [, answer] = await post(
        { from: 'Me', message: 'hi', metadata: { messageId: id, threadId: id } },
        mine.api_key,
      );
      const segment = encodeURIComponent(id);
      expect(await get(`/a2a/messages/${segment}`, mine.api_key), id.slice(0, 20)).toEqual([200, answer]);
      expect((await get(`/a2a/threads/${segment}`, mine.api_key))[1]['threadId']).toBe(id);
    }
  });
});

describe('an answer requested without a key', () => {
  const ask = (name: string, metadata: JsonObject, callbackUrl: string | null = null) =>
    post({ from: { name, callbackUrl }, message: `I am ${name}`, metadata });

  test('does not reveal the callback URL of its sender', async () => {
    const before = receiver.received.length;
    const [, ack] = await ask('Ann', { messageId: 'msg_called' }, receiver.url('/ann'));
    expect((ack['to'] as JsonObject)['callbackUrl']).toBe(receiver.url('/ann'));
    await receiver.until(before + 1);
    const [status, answer] = await get('/a2a/messages/msg_called');
    expect([status, answer]).toMatchObject([200, { to: { name: 'Ann', callbackUrl: null } }]);
  });

  test('is ambiguous where several senders at one address use the id and none is named', async () => {
    const absent = await get('/a2a/messages/never-was');
    const [, anns] = await ask('Ann', { messageId: 'msg_1' });
    expect(await get('/a2a/messages/msg_1')).toEqual([200, anns]);
    const [, eves] = await ask('Eve & Co', { messageId: 'msg_1' });
    expect(timeless(await get('/a2a/messages/msg_1'))).toEqual(timeless(absent));
    expect(await get('/a2a/messages/msg_1?from=Ann')).toEqual([200, anns]);
    expect(await get('/a2a/messages/msg_1?from=Eve+%26+Co')).toEqual([200, eves]);
    expect(timeless(await get('/a2a/messages/msg_1?from=Bob'))).toEqual(timeless(absent));
    expect(timeless(await get('/a2a/messages/msg_1?from=Ann', mine.api_key))).toEqual(timeless(absent));
  });
});

describe('a repeat', () => {
  const message = (content: Json) => ({ from: 'Me', message: { content }, metadata: { messageId: 'msg_repeated' } });

  test('gets the first answer, byte for byte; another body is a conflict; another sender is another', async () => {
    const first = await post(message('once'), mine.api_key);
    expect(await post(message('once'), mine.api_key)).toEqual(first);
    expect(await post(message('twice'), mine.api_key)).toMatchObject([409, { error: 'Conflict' }]);
    const theirs = await post(message('twice'), other.api_key);
    expect([theirs[0], theirs[1]['messageId'] === first[1]['messageId']]).toEqual([200, false]);
    const anonymous = await post(message('thrice'));
    expect(anonymous[0]).toBe(200);
    expect(await post(message('thrice'))).toEqual(anonymous);
    expect((await post({ ...message('by another name'), from: 'You' }))[0]).toBe(200);
  });

  test('gets the first answer whatever its expiresAt, also when that has passed', async () => {
    const until = (expiresAt: string, text = 'in time') =>
      post({ from: 'Me', message: text, metadata: { messageId: 'msg_until', expiresAt } }, mine.api_key);
    const past = new Date(Date.now() - 1000).toISOString();
    const expired = [400, { error: 'Invalid message format', errors: ['Message already expired'] }];
    expect(await until(past)).toMatchObject(expired);
    const first = await until(new Date(Date.now() + 60_000).toISOString());
    expect(first).toMatchObject([200, { metadata: { status: 'success' } }]);
    expect(await until(new Date(Date.now() + 120_000).toISOString())).toEqual(first);
    expect(await until(past)).toEqual(first);
    expect((await until(past, 'another'))[0]).toBe(409);
    const nameless = { from: 'Me', message: 'in time', metadata: { expiresAt: past } };
    expect(await post(nameless, mine.api_key)).toMatchObject(expired);
    const wrong = { ...nameless, metadata: { messageId: 'msg_until', expiresAt: past, priority: 'high' } };
    expect((await post(wrong, mine.api_key))[1]['errors']).toHaveLength(2);
  });

  test('by its Idempotency-Key gets the first answer too', async () => {
    const json = { from: 'Me', message: 'pay' };
    const send = () => call(system.url, { ...POST, json, key: mine.api_key, headers: { 'idempotency-key': 'k1' } });
    const first = await (await send()).json();
    expect(await (await send()).json()).toEqual(first);
  });

  test('of one with a callback is acknowledged alike and called back once', async () => {
    const before = receiver.received.length;
    const json = {
      from: { name: 'Me', callbackUrl: receiver.url('/repeated') },
      message: 'once',
      metadata: { messageId: 'msg_called_back', threadId: 'thread_repeated' },
    };
    const first = await post(json, mine.api_key);
    await receiver.until(before + 1);
    expect(await post(json, mine.api_key)).toEqual(first);
    const thread = await get('/a2a/threads/thread_repeated', mine.api_key);
    expect((thread[1]['messages'] as Json[]).length).toBe(2);
    await post({ ...json, metadata: { messageId: 'msg_after' } }, mine.api_key);
    await receiver.until(before + 2);
    expect(receiver.received.slice(before).map(({ body }) => JSON.parse(body).replyTo)).toEqual([
      'msg_called_back',
      'msg_after',
    ]);
  });
});

describe('a thread', () => {
  const sendMessage = (content: Json, threadId: string, more: JsonObject = {}, key: string = mine.api_key) =>
    post({ from: 'Me', message: { content }, metadata: { threadId, ...more } }, key);

  test('is kept in order, handed to the agent, and read by its owner alone', async () => {
    const [, first] = await sendMessage('one', 't-order');
    const [, second] = await sendMessage({ report: true }, 't-order', { replyTo: first['messageId'] ?? null });
    const { envelope, history } = reported(second);
    const expected = [
      { role: 'caller', content: 'one' },
      { role: 'agent', content: 'You said: one' },
    ];
    expect(envelope['session_id']).toBe('t-order');
    expect(envelope['source_agent_id']).toBe('my-agent');
    expect(history).toMatchObject(expected);
    expect((envelope['channel_context'] as JsonObject)['history']).toEqual(history);
    const [status, page] = await get('/a2a/threads/t-order', mine.api_key);
    expect(status).toBe(200);
    expect(page).toMatchObject({
      threadId: 't-order',
      messages: [
        { sequence: 1, message: { content: 'one' }, from: { name: 'Me' } },
        { sequence: 2, message: { content: 'You said: one' }, replyTo: first['replyTo'] },
        { sequence: 3, metadata: { replyTo: first['messageId'] } },
        { sequence: 4, replyTo: second['replyTo'] },
      ],
      next: null,
    });
    const absent = await get('/a2a/threads/never-was', other.api_key);
    expect(timeless(await get('/a2a/threads/t-order', other.api_key))).toEqual(timeless(absent));
    expect((await get('/a2a/threads/t-order'))[0]).toBe(401);
  });

  test('of the same name is separate for each sender: its name gives no access to the thread of another', async () => {
    await sendMessage('secret of mine', 't-shared');
    const [, theirs] = await sendMessage({ report: true }, 't-shared', {}, other.api_key);
    expect(reported(theirs).history).toEqual([]);
    const [, anonymous] = await post({
      from: 'my-agent',
      message: { content: { report: true } },
      metadata: { threadId: 't-shared' },
    });
    expect(reported(anonymous)).toMatchObject({ history: [] });
    expect(reported(anonymous).envelope['source_agent_id']).toBeNull();
    const pages = await Promise.all([mine, other].map(({ api_key }) => get('/a2a/threads/t-shared', api_key)));
    expect(pages.map(([, { messages }]) => (messages as Json[]).length)).toEqual([2, 2]);
  });

  test('that its owner deletes as a session is no longer sent to anybody', async () => {
    await sendMessage('secret of mine', 't-deleted');
    const json = { protocol_version: '1.0', method: 'session.delete', params: { session_id: 't-deleted' } };
    const deletion = { method: 'POST', path: '/e2a', accept: 'application/json', json } satisfies CallOptions;
    const deletedBy = async (key: string) =>
      (await statusAndBody(await call(system.url, { ...deletion, key })))[1]['body'];
    expect(await deletedBy(other.api_key)).toMatchObject({ code: 'E2A.NOT_FOUND' });
    expect(await deletedBy(mine.api_key)).toMatchObject({ result: { deleted: true } });
    expect((await get('/a2a/threads/t-deleted', mine.api_key))[0]).toBe(404);
    expect(reported((await sendMessage({ report: true }, 't-deleted'))[1]).history).toEqual([]);
  });

  test('keeps an unknown replyTo and reports it as a warning', async () => {
    const [, first] = await sendMessage('one', 't-reply-a');
    const reply = { replyTo: first['messageId'] ?? null };
    const warnings = [`replyTo: there is no message ${first['messageId']} in thread t-reply-b`];
    expect(await sendMessage('two', 't-reply-b', reply)).toMatchObject([
      200,
      { metadata: { status: 'success', warnings } },
    ]);
    const [, { messages }] = await get('/a2a/threads/t-reply-b', mine.api_key);
    expect(messages).toMatchObject([{ metadata: reply }, { metadata: { warnings } }]);
    // Another sender's message looks as if it did not exist.
    expect(await sendMessage('two', 't-reply-a', reply, other.api_key)).toMatchObject([
      200,
      { metadata: { warnings: [UNKNOWN_REPLY] } },
    ]);
  });

  test('is bounded, and read page by page', async () => {
    for (const content of ['1', '2', '3', '4', '5']) await sendMessage(content, 't-long');
    const [, first] = await get('/a2a/threads/t-long?limit=4', mine.api_key);
    const sequences = (page: JsonObject) => (page['messages'] as JsonObject[]).map(({ sequence }) => sequence);
    expect([sequences(first), first['next']]).toEqual([[5, 6, 7, 8], 8]);
    const [, rest] = await get(`/a2a/threads/t-long?limit=4&after=${first['next']}`, mine.api_key);
    expect([sequences(rest), rest['next']]).toEqual([[9, 10], null]);
    const [status, body] = await get('/a2a/threads/t-long?limit=0', mine.api_key);
    expect([status, body['errors']]).toEqual([400, ['limit must be a whole number from 1 to 200; got "0"']]);
  });

  test('shows an agent that takes part what it took part in, without the sender’s callback', async () => {
    const takes = await system.caller('takes-part', { permissions: {}, driver: 'module', module });
    const callbackUrl = receiver.url('/part');
    const json = {
      from: { name: 'Me', callbackUrl },
      to: 'takes-part',
      message: 'hi',
      metadata: { threadId: 't-part' },
    };
    const before = receiver.received.length;
    await post(json, mine.api_key);
    await post({ ...json, to: 'letters' }, mine.api_key);
    await receiver.until(before + 2);
    const [status, page] = await get('/a2a/threads/t-part', takes.api_key);
    expect([status, (page['messages'] as Json[]).length]).toEqual([200, 2]);
    expect(JSON.stringify(page)).not.toContain(callbackUrl);
    const [, whole] = await get('/a2a/threads/t-part', mine.api_key);
    expect([(whole['messages'] as Json[]).length, JSON.stringify(whole).includes(callbackUrl)]).toEqual([4, true]);
  });
});

describe('who a sender is', () => {
  test('is its key: another agentId than the registered one is refused, and a registered one is its owner’s', async () => {
    const claim = (agentId: string, key?: string) => post({ from: { name: 'Me', agentId }, message: 'hi' }, key);
    expect((await claim(MINE, mine.api_key))[0]).toBe(200);
    expect(await claim(OTHER, mine.api_key)).toMatchObject([403, { error: 'Forbidden' }]);
    expect((await claim(MINE, other.api_key))[0]).toBe(403);
    expect((await claim(MINE))[0]).toBe(403);
    expect((await claim(MINE.replace('4321', '4322')))[0]).toBe(200);
  });

  test('does not become an agent of the mailbox, or the mailbox, by claiming it', async () => {
    const scholar = await system.caller('scholar');
    const claim = (agentId: string, key?: string) => post({ from: { name: 'Me', agentId }, message: 'hi' }, key);
    for (const taken of [OTHER, OTHER.toLowerCase(), TEE]) {
      expect((await claim(taken))[0], taken).toBe(403);
      expect((await claim(taken, other.api_key))[0], taken).toBe(403);
    }
    expect((await claim(OTHER, scholar.api_key))[0]).toBe(200);
    expect((await claim(TEE, scholar.api_key))[0]).toBe(403);
  });

  test('reaches the agent without its callback URL', async () => {
    const before = receiver.received.length;
    const from = { name: 'Me', callbackUrl: receiver.url('/hidden') };
    await post({ from, message: { content: { report: true } } }, mine.api_key);
    const body = JSON.parse((await receiver.until(before + 1))[before]?.body ?? '');
    const { envelope } = reported(body);
    expect(JSON.stringify(envelope)).not.toContain('/hidden');
    expect((envelope['channel_context'] as JsonObject)['from']).toEqual({ name: 'Me' });
  });
});

describe('discovery', () => {
  test('returns the card, the registration and the short form, from the configuration', async () => {
    const [, card] = await get('/.well-known/agent-card.json');
    expect(card).toMatchObject({
      name: 'Mr. Tee',
      iconUrl: 'https://a2a.example/tee.png',
      provider: { organization: 'Tee & Sons', url: 'https://a2a.example' },
      supportedInterfaces: expect.arrayContaining([
        expect.objectContaining({ url: `${system.url}/a2a`, protocolVersion: '0.3.0' }),
      ]),
      registrations: [{ agentId: 18608, agentRegistry: TEE.slice(0, TEE.lastIndexOf(':')) }],
    });
    expect(await get('/.well-known/agent.json')).toEqual([200, card]);
    const [, registration] = await get('/.well-known/agent-registration.json');
    expect(registration).toMatchObject({
      name: 'Mr. Tee',
      registrations: card['registrations'],
      supportedTrust: ['reputation'],
      active: false,
    });
    const [, short] = await get('/agent');
    expect(short).toMatchObject({ name: 'Mr. Tee', agentId: TEE, endpoint: `${system.url}/a2a`, specVersion: '0.3.0' });
    const [extension] = (card['capabilities'] as { extensions: { params: JsonObject }[] }).extensions;
    const { publicKey, timeoutSeconds, retries } = short['callbacks'] as JsonObject;
    expect(extension?.params).toMatchObject({ publicKey, timeoutSeconds, retries });
    expect([timeoutSeconds, retries]).toEqual([9, 3]);
  });
});

const POST = { method: 'POST', path: '/a2a' } satisfies CallOptions;

async function post(json: unknown, key?: string): Promise<[number, JsonObject]> {
  return statusAndBody(await call(system.url, { ...POST, json, ...(key !== undefined && { key }) }));
}

async function get(path: string, key?: string): Promise<[number, JsonObject]> {
  return statusAndBody(await call(system.url, { path, ...(key !== undefined && { key }) }));
}

function raw(text: string, contentType: string): Promise<HttpAnswer> {
  return call(system.url, { ...POST, text, headers: { 'content-type': contentType } });
}

async function statusAndBody(answer: HttpAnswer): Promise<[number, JsonObject]> {
  return [answer.status, (await answer.json()) as JsonObject];
}

/** Two refusals are the same when nothing but their time differs. */
function timeless([status, body]: [number, JsonObject]): unknown[] {
  return [status, { ...body, timestamp: null }];
}

/** What an agent that reports was given. */
function reported(body: JsonObject): { envelope: JsonObject; history: Json[] } {
  return (body['message'] as JsonObject)['content'] as unknown as { envelope: JsonObject; history: Json[] };
}

interface Fixture {
  readonly input: Json;
  readonly now?: string;
  readonly lenient?: boolean;
  readonly expect: { readonly issues: readonly { readonly code: string; readonly message?: string }[] };
}

/** The messages of the conformance suite; when they expire is moved to where it is the same from now. */
function fixtures(folder: 'accept' | 'reject'): { name: string; fixture: Fixture }[] {
  const path = new URL(`../../conformance/a2a-mailbox/${folder}/`, import.meta.url);
  return readdirSync(path)
    .map((file) => ({ name: file.slice(0, -5), fixture: JSON.parse(readFileSync(new URL(file, path), 'utf8')) }))
    .filter(({ name, fixture: { input } }) => !name.startsWith('lenient') && isMessage(input))
    .map(({ name, fixture }) => ({ name, fixture: { ...fixture, input: moved(fixture.input) } }));
}

function isMessage(input: Json): boolean {
  const { error, messageId, replyTo, from } = (input ?? {}) as JsonObject;
  const isAnswer = messageId !== undefined && replyTo !== undefined && typeof from !== 'string';
  const url = (from as JsonObject | undefined)?.['callbackUrl'];
  return error === undefined && !isAnswer && !String(url).startsWith('https://');
}

function moved(input: Json): Json {
  const { metadata } = (input ?? {}) as { metadata?: JsonObject };
  const text = String(metadata?.['expiresAt']);
  const at = Date.parse(text);
  if (!/T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(at) || at <= Date.parse('2026-03-28T12:00:30.000Z'))
    return input;
  return {
    ...(input as JsonObject),
    metadata: { ...metadata, expiresAt: new Date(Date.now() + 60_000).toISOString() },
  };
}

const OURS: ReadonlySet<string> = new Set(['unknown_field', 'mismatch']);
const UNKNOWN_REPLY = expect.stringMatching(/^replyTo: there is no message /);
const MESSAGE_ID = /^msg_\d{13}_[0-9a-f]{8}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
