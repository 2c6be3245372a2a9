import { afterAll, describe, expect, test } from 'vitest';
import type { E2AResponse } from '../../packages/protocols/src/e2a/response.ts';
import { allFrames, call } from './call.ts';
import { Caller, type Envelope, expectOrdered, fresh, read } from './caller.ts';
import { SocketClient } from './socket-client.ts';
import { moduleAgent, System } from './system.ts';

const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: {
      echo: moduleAgent('echo'),
      held: moduleAgent('held'),
      misbehaving: moduleAgent('misbehaving'),
      slow: moduleAgent('load'),
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const caller = new Caller(system, (await system.caller('caller-agent')).api_key);

const CONTENT = 'one two three four five';
const CHAT = { method: 'chat.send', params: { content: CONTENT } };
const HELD = { method: 'chat.send', agent_ref: { id: 'held' }, params: {} };

describe('an answer whose readers leave', () => {
  const UNREAD = { ...HELD, is_stream: true, channel_context: { cancel_on_disconnect: true } };
  const stream = (envelope: Envelope) => caller.post(envelope, { accept: 'application/x-ndjson' });
  /** How it ended, once it has. */
  const endOf = async (requestId: string) => read((await caller.resume(requestId)).at(-1)).body['code'];

  test('continues for a reader that returns', async () => {
    const request_id = fresh();
    const first = await stream({ ...HELD, request_id, is_stream: true });
    await first.frames().next();
    first.destroy();
    const second = await caller.get(`${request_id}/responses`, 'application/x-ndjson');
    const frames = second.frames();
    expect(read((await frames.next()).value).body['delta']).toBe('begun');
    await caller.cancel(request_id);
    expect(read((await frames.next()).value).body['code']).toBe('E2A.CANCELLED');
  });

  test.each<[string, (envelope: Envelope) => Promise<() => void>]>([
    [
      'a stream',
      async (envelope) => {
        const answer = await stream(envelope);
        await answer.frames().next();
        return () => answer.destroy();
      },
    ],
    [
      'a WebSocket',
      async (envelope) => {
        const socket = await caller.socket();
        socket.send(envelope);
        await socket.frames(envelope.request_id).next();
        return () => socket.close();
      },
    ],
  ])('ends with %s that requested so', async (_, open) => {
    const request_id = fresh();
    const leave = await open({ ...UNREAD, request_id });
    leave();
    await expect.poll(async () => (await caller.resumeNow(request_id)).length).toBe(2);
    expect(await endOf(request_id)).toBe('E2A.CANCELLED');
  });

  test('ends with the last of them, not with the first', async () => {
    const request_id = fresh();
    const first = await stream({ ...UNREAD, request_id });
    await first.frames().next();
    const second = await caller.get(`${request_id}/responses`, 'application/x-ndjson');
    await second.frames().next();
    const socket = await caller.socket();
    socket.send({ ...UNREAD, request_id });
    await socket.frames(request_id).next();
    first.destroy();
    second.destroy();
    const metrics = async () => (await call(system.url, { path: '/metrics' })).text();
    await expect.poll(metrics).toContain('dragoman_open_streams 0');
    expect(await caller.resumeNow(request_id)).toHaveLength(1);
    socket.close();
    await expect.poll(async () => (await caller.resumeNow(request_id)).length).toBe(2);
    expect(await endOf(request_id)).toBe('E2A.CANCELLED');
  });
});

describe('the same request over every transport', () => {
  /** How a request goes in and its frames come out. */
  const TRANSPORTS: Readonly<Record<string, (envelope: Envelope) => Promise<string[]>>> = {
    SSE: async (envelope) => allFrames(await caller.post(envelope, { accept: 'text/event-stream' })),
    NDJSON: async (envelope) => allFrames(await caller.post(envelope, { accept: 'application/x-ndjson' })),
    WebSocket: (envelope) => caller.overSocket(envelope),
    'the route of the agent': async ({ agent_ref: _, ...envelope }) =>
      allFrames(await caller.post(envelope as Envelope, { accept: 'application/x-ndjson', path: '/e2a/agents/echo' })),
    'a legacy AgentRequest': async ({ request_id, params = {} }) =>
      allFrames(
        await caller.post(
          { request_id, channel_id: 'web', req_method: 'chat.send', params, is_stream: true, timestamp: 0 },
          { accept: 'text/event-stream', path: '/e2a/agents/echo' },
        ),
      ),
    'a legacy AgentRequest over the WebSocket': ({ request_id, params = {} }) =>
      caller.overSocket({
        request_id,
        channel_id: 'web',
        req_method: 'chat.send',
        params,
        is_stream: true,
        timestamp: 0,
      }),
  };

  test.each(Object.keys(TRANSPORTS))('%s gives the same frames', async (transport) => {
    const ask = TRANSPORTS[transport];
    if (ask === undefined) throw new Error('no such transport');
    const envelope = { ...CHAT, request_id: fresh(), agent_ref: { id: 'echo' }, is_stream: true };
    const frames = (await ask(envelope)).map(read);
    expectOrdered(frames);
    expect(frames.map(essence)).toEqual([
      ...CONTENT.split(' ').map((delta) => ({ kind: 'e2a.chunk', body: { delta_kind: 'text', delta } })),
      { kind: 'e2a.complete', body: { result: { echoed: CONTENT } } },
    ]);
    expect(new Set(frames.map(({ response_id }) => response_id)).size).toBe(frames.length);
    for (const frame of frames) expect(frame).toMatchObject({ request_id: envelope.request_id, method: 'chat.send' });
  });

  test.each([
    ['JSON', 'application/json'],
    ['SSE', 'text/event-stream'],
    ['NDJSON', 'application/x-ndjson'],
  ])('%s gives the final frame alone when no stream is requested', async (_, accept) => {
    const envelope = { ...CHAT, request_id: fresh() };
    const frames = await allFrames(await caller.post(envelope, { accept }));
    expect(frames).toHaveLength(1);
    expect(read(frames[0])).toMatchObject({ is_final: true, sequence: 0, body: { result: { echoed: CONTENT } } });
    // And again for a reader that returns.
    const again = await caller.get(`${envelope.request_id}/responses`, accept);
    expect(accept === 'application/json' ? await again.text() : await allFrames(again)).toEqual(
      accept === 'application/json' ? `{"responses":[${frames[0]}],"is_final":true}` : frames,
    );
  });

  test('the WebSocket too', async () => {
    const envelope = { ...CHAT, request_id: fresh() };
    const frames = await caller.overSocket(envelope);
    expect(frames.map(read)).toMatchObject([{ is_final: true, sequence: 0 }]);
    const socket = await caller.socket();
    socket.send({ request_id: fresh(), method: 'chat.resume', params: { request_id: envelope.request_id } });
    expect((await socket.frames(envelope.request_id).next()).value).toBe(frames[0]);
    socket.close();
  });

  test('JSON has no place but for the final frame of a stream', async () => {
    const frames = await allFrames(await caller.post({ ...CHAT, request_id: fresh(), is_stream: true }));
    expect(frames.map(read)).toMatchObject([{ is_final: true, sequence: 5 }]);
  });

  test('many at once over one WebSocket, in any order, none mixed up', async () => {
    const socket = await caller.socket();
    const envelopes = Array.from({ length: 50 }, (_, index) => ({
      request_id: fresh(),
      method: 'chat.send',
      is_stream: true,
      agent_ref: { id: 'slow' },
      params: { content: `${index}a ${index}b ${index}c`, pause_ms: (index * 7) % 5 },
    }));
    const answers = await Promise.all(envelopes.map((envelope) => socket.ask(envelope)));
    for (const [index, frames] of answers.entries()) {
      expectOrdered(frames.map(read));
      expect(read(frames.at(-1)).body).toMatchObject({ result: { echoed: envelopes[index]?.params.content } });
    }
    socket.close();
  });

  test('an id that is being answered on this WebSocket is refused, on another it is read along', async () => {
    const [first, second] = [await caller.socket(), await caller.socket()];
    const envelope = { ...HELD, request_id: fresh(), is_stream: true };
    const frames = first.frames(envelope.request_id);
    first.send(envelope);
    const firstFrame = (await frames.next()).value;
    first.send(envelope);
    expect(read((await frames.next()).value ?? '')).toMatchObject({ body: { code: 'E2A.CONFLICT' } });
    second.send(envelope);
    expect((await second.frames(envelope.request_id).next()).value).toBe(firstFrame);
    await caller.cancel(envelope.request_id);
    first.close();
    second.close();
  });
});

describe('resuming', () => {
  const RESUMES: Readonly<Record<string, (id: string, after: number) => Promise<string[]>>> = {
    'after=N by SSE': async (id, after) =>
      allFrames(await caller.get(`${id}/responses?after=${after}`, 'text/event-stream')),
    'after=N by NDJSON': async (id, after) =>
      allFrames(await caller.get(`${id}/responses?after=${after}`, 'application/x-ndjson')),
    'Last-Event-ID': async (id, after) =>
      allFrames(await caller.get(`${id}/responses`, 'text/event-stream', { 'last-event-id': String(after) })),
    'chat.resume': async (id, after) => {
      const socket = await caller.socket();
      socket.send({ request_id: fresh(), method: 'chat.resume', params: { request_id: id, after } });
      const frames: string[] = [];
      for await (const frame of socket.frames(id)) frames.push(frame);
      socket.close();
      return frames;
    },
    'posting again': async (id, after) => {
      const frames = await allFrames(await caller.post({ ...STREAM, request_id: id }, { accept: 'text/event-stream' }));
      return frames.slice(after + 1);
    },
  };
  const STREAM = { ...CHAT, is_stream: true };

  test.each(Object.keys(RESUMES))('a finished answer by %s gives exactly the rest', async (way) => {
    const id = fresh();
    const all = await allFrames(await caller.post({ ...STREAM, request_id: id }, { accept: 'text/event-stream' }));
    for (let after = -1; after < all.length - 1; after += 1) {
      expect(await RESUMES[way]?.(id, after)).toEqual(all.slice(after + 1));
    }
  });

  test.each(Object.keys(RESUMES))('a running answer by %s gives exactly the rest, to the end', async (way) => {
    const id = fresh();
    const content = 'a b c d e f g h';
    const envelope = { ...STREAM, request_id: id, agent_ref: { id: 'slow' }, params: { content, pause_ms: 10 } };
    const first = await caller.post(envelope, { accept: 'text/event-stream' });
    const received: string[] = [];
    for await (const frame of first.frames()) {
      received.push(frame);
      if (received.length === 2) break;
    }
    const rest =
      way === 'posting again'
        ? (await allFrames(await caller.post(envelope, { accept: 'text/event-stream' }))).slice(2)
        : await RESUMES[way]?.(id, 1);
    const whole = [...received, ...(rest ?? [])];
    expectOrdered(whole.map(read));
    expect(whole).toEqual(await caller.resume(id));
    expect(whole).toHaveLength(9);
  });

  test('as JSON returns the stored frames, and whether they are all', async () => {
    const done = fresh();
    await allFrames(await caller.post({ ...STREAM, request_id: done }));
    const some = await (await caller.get(`${done}/responses?after=3`)).json();
    expect(some).toMatchObject({ is_final: true, responses: [{ sequence: 4 }, { sequence: 5, is_final: true }] });
    const running = fresh();
    const stream = await caller.post(
      { ...HELD, request_id: running, is_stream: true },
      { accept: 'text/event-stream' },
    );
    await stream.frames().next();
    expect(await (await caller.get(`${running}/responses`)).json()).toMatchObject({
      is_final: false,
      responses: [{ sequence: 0 }],
    });
    await caller.cancel(running);
  });

  test('as JSON after the final frame reports that no frame will follow', async () => {
    const id = fresh();
    await allFrames(await caller.post({ ...STREAM, request_id: id }));
    expect(await (await caller.get(`${id}/responses?after=5`)).json()).toEqual({ responses: [], is_final: true });
  });

  test('as a stream after the final frame is an empty stream, which ends at once', async () => {
    const id = fresh();
    await allFrames(await caller.post({ ...STREAM, request_id: id }));
    for (const accept of ['text/event-stream', 'application/x-ndjson']) {
      for (const after of [5, 6, 1000]) {
        const answer = await caller.get(`${id}/responses?after=${after}`, accept);
        expect([answer.status, await answer.text()]).toEqual([200, '']);
      }
    }
  });

  test('by chat.resume after the final frame is answered itself, so that no client waits for frames that never arrive', async () => {
    const id = fresh();
    await allFrames(await caller.post({ ...STREAM, request_id: id }));
    const params = { request_id: id, after: 5 };
    const frames = await caller.overSocket({ request_id: fresh(), method: 'chat.resume', params });
    expect(frames.map(read)).toMatchObject([{ is_final: true, body: { result: { request_id: id, is_final: true } } }]);
  });

  test.each([-2, Number.MIN_SAFE_INTEGER, 1.5, '0'])('by chat.resume after %j is refused', async (after) => {
    const id = fresh();
    await allFrames(await caller.post({ ...STREAM, request_id: id }));
    const params = { request_id: id, after };
    const frames = await caller.overSocket({ request_id: fresh(), method: 'chat.resume', params });
    expect(frames.map(read)).toMatchObject([{ is_final: true, body: { code: 'E2A.INVALID_MESSAGE' } }]);
  });

  test.each(['after=x', 'after=-2', 'after=1.5', 'after=1e3', 'after='])('?%s is refused', async (query) => {
    expect((await caller.get(`${fresh()}/responses?${query}`)).status).toBe(400);
  });
});

describe('cancelling', () => {
  test('ends the answer for everybody who reads it, with one frame', async () => {
    const id = fresh();
    const stream = await caller.post({ ...HELD, request_id: id, is_stream: true }, { accept: 'text/event-stream' });
    const frames = stream.frames();
    await frames.next();
    const socket = await caller.socket();
    socket.send({ request_id: fresh(), method: 'chat.resume', params: { request_id: id } });
    const alongside = socket.frames(id);
    await alongside.next();
    expect(await (await caller.cancel(id)).json()).toEqual({ request_id: id, cancelled: true });
    const final = (await frames.next()).value ?? '';
    expect(read(final)).toMatchObject({ sequence: 1, is_final: true, body: { code: 'E2A.CANCELLED' } });
    expect((await alongside.next()).value).toBe(final);
    expect((await frames.next()).done).toBe(true);
    expect(await (await caller.cancel(id)).json()).toEqual({ request_id: id, cancelled: false });
    expect(await caller.resume(id)).toHaveLength(2);
    socket.close();
  });

  test('is not what a reader does who goes away', async () => {
    const id = fresh();
    const envelope = { ...CHAT, request_id: id, is_stream: true, agent_ref: { id: 'slow' } };
    const params = { content: 'a b c d', pause_ms: 20 };
    const stream = await caller.post({ ...envelope, params }, { accept: 'text/event-stream' });
    await stream.frames().next();
    stream.destroy();
    expect(read((await caller.resume(id)).at(-1))).toMatchObject({ body: { result: { echoed: 'a b c d' } } });
  });
});

describe('repeats', () => {
  test('the same id with the same body is the same answer, whatever its time and way', async () => {
    const id = fresh();
    const first = await allFrames(await caller.post({ ...CHAT, request_id: id, timestamp: '2026-01-01T00:00:00Z' }));
    const second = await allFrames(await caller.post({ ...CHAT, request_id: id, timestamp: '2026-01-01T00:00:09Z' }));
    expect(second).toEqual(first);
    expect(await caller.overSocket({ ...CHAT, request_id: id })).toEqual(first);
  });

  test('until when an answer is wanted makes no other request of it, also when that has passed', async () => {
    const until = (time: string) => ({ ...CHAT, request_id: 'wanted', channel_context: { expires_at: time } });
    const first = await allFrames(await caller.post(until('2999-01-01T00:00:00Z')));
    expect(await allFrames(await caller.post(until('2999-01-01T00:00:09Z')))).toEqual(first);
    expect(await allFrames(await caller.post(until('2001-01-01T00:00:00Z')))).toEqual(first);
    expect((await caller.post({ ...until('2999-01-01T00:00:00Z'), params: {} })).status).toBe(409);
  });

  test('the same id with another body is a conflict over every transport', async () => {
    const id = fresh();
    await allFrames(await caller.post({ ...CHAT, request_id: id }));
    const other = { ...CHAT, request_id: id, params: { content: 'something else' } };
    const answer = await caller.post(other);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: 'conflict' });
    expect((await caller.overSocket(other)).map(read)).toMatchObject([{ body: { code: 'E2A.CONFLICT' } }]);
  });

  test('Idempotency-Key stands for the id', async () => {
    const headers = { 'idempotency-key': fresh() };
    const { request_id: _, ...anonymous } = { ...CHAT, request_id: '' };
    const first = await allFrames(await caller.post(anonymous, { headers }));
    expect(await allFrames(await caller.post(anonymous, { headers }))).toEqual(first);
    expect((await caller.post({ ...anonymous, params: { content: 'other' } }, { headers })).status).toBe(409);
    expect(await allFrames(await caller.post(anonymous, { headers: { 'idempotency-key': fresh() } }))).not.toEqual(
      first,
    );
    expect((await caller.post(anonymous, { headers: { 'idempotency-key': 'a b' } })).status).toBe(400);
    const { api_key: other } = await system.caller(fresh());
    expect(await allFrames(await caller.post(anonymous, { headers, key: other }))).not.toEqual(first);
  });

  test('a hundred at once are one run', async () => {
    const envelope = {
      ...CHAT,
      request_id: fresh(),
      agent_ref: { id: 'slow' },
      params: { content: 'x y', pause_ms: 20 },
    };
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => (await allFrames(await caller.post(envelope)))[0]),
    );
    expect(new Set(answers).size).toBe(1);
  });
});

describe('rate limits', () => {
  test('are sent in both header families, one budget for all endpoints, and 429 with Retry-After', async () => {
    const limits = { requests_per_minute: 4 };
    const { api_key: key } = await system.caller(fresh(), { permissions: { agents: ['*'] }, limits });
    const first = await caller.post({ ...CHAT, request_id: fresh() }, { key });
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '4', 'x-ratelimit-remaining': '3' });
    expect(first.headers['ratelimit-policy']).toContain('"minute";q=4;w=60');
    expect(first.headers['ratelimit']).toContain('"minute";r=3;t=');
    const socket = await SocketClient.open(system.url, key);
    await socket.ask({ ...CHAT, request_id: fresh() });
    const last = fresh();
    await socket.ask({ ...CHAT, request_id: last });
    expect((await caller.post({ ...CHAT, request_id: fresh() }, { key })).headers['x-ratelimit-remaining']).toBe('0');
    const refused = await caller.post({ ...CHAT, request_id: fresh() }, { key });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(62);
    expect(await refused.json()).toMatchObject({
      code: 'rate_limited',
      retry_after: Number(refused.headers['retry-after']),
    });
    const [frame] = await socket.ask({ ...CHAT, request_id: fresh() });
    expect(read(frame).body).toMatchObject({ code: 'E2A.RATE_LIMITED' });
    // Reading on costs nothing.
    const read_on = await call(system.url, { path: `/e2a/requests/${last}/responses`, key });
    expect(read_on.status).toBe(200);
    socket.send({ request_id: fresh(), method: 'chat.resume', params: { request_id: last } });
    expect(read((await socket.frames(last).next()).value)).toMatchObject({ sequence: 0, is_final: true });
    socket.close();
  });
});

describe('permissions', () => {
  test('that were taken away, or given, count on an open WebSocket from the next request on', async () => {
    const agent_id = fresh();
    const may = (agents: string[]) =>
      call(system.url, {
        method: 'POST',
        path: '/admin/v1/agents',
        key: system.adminKey,
        json: { agent_id, permissions: { agents } },
      });
    const { api_key: key } = await system.caller(agent_id);
    const socket = await SocketClient.open(system.url, key);
    const end = async () => read((await socket.ask({ ...CHAT, request_id: fresh() })).at(-1));
    expect(await end()).toMatchObject({ status: 'succeeded' });
    await may(['slow']);
    expect(await end()).toMatchObject({ status: 'failed', body: { code: 'E2A.FORBIDDEN' } });
    await may(['echo']);
    expect(await end()).toMatchObject({ status: 'succeeded' });
    socket.close();
  });
});

describe('what cannot be read', () => {
  test.each([
    ['not JSON', '{"request_id":', 'not_json', null],
    ['a key twice', '{"request_id":"a","request_id":"b","method":"chat.send"}', 'not_json', null],
    ['half of a surrogate pair in an id', '{"request_id":"a\\ud800","method":"chat.send"}', 'not_json', null],
    ['__proto__', '{"request_id":"a","method":"chat.send","__proto__":{}}', 'invalid_message', 'a'],
    ['no envelope', '[]', 'invalid_message', null],
    ['a wrong type', '{"request_id":"b","method":7}', 'invalid_message', 'b'],
    ['an id that is a list', '{"request_id":["c"],"method":"chat.send"}', 'invalid_message', null],
    ['a NUL in an id', '{"request_id":"d\\u0000e","method":"chat.send"}', 'invalid_message', 'd\0e'],
    ['a NUL in a session', '{"request_id":"f","session_id":"\\u0000","method":"chat.send"}', 'invalid_message', 'f'],
    ['an empty id', '{"request_id":"","method":"chat.send","params":{}}', 'invalid_message', ''],
    ['an agent by number', '{"request_id":"h","agent_ref":{"id":7},"method":"chat.send"}', 'invalid_message', 'h'],
    ['an id no path could hold', JSON.stringify({ request_id: 'g'.repeat(513) }), 'invalid_message', 'g'.repeat(513)],
  ])('%s is refused with what is wrong by HTTP, and the WebSocket lives on', async (_, body, code, id) => {
    const socket = await caller.socket();
    socket.send(body);
    const e2a = code === 'not_json' ? 'E2A.INVALID_JSON' : 'E2A.INVALID_MESSAGE';
    expect(read((await socket.frames(id).next()).value)).toMatchObject({ is_final: true, body: { code: e2a } });
    expect(await socket.ask({ ...CHAT, request_id: fresh() })).toHaveLength(1);
    socket.close();
    const answer = await caller.postText(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code,
      issues: [expect.objectContaining({ message: expect.any(String) })],
    });
  });

  const long = 'x'.repeat(5000);
  test.each([
    { jsonrpc_id: long },
    { correlation_id: long },
    { task_id: long },
    { context_id: long },
    { message_id: long },
    { channel: long },
    { user_id: long },
    { method: long },
    { agent_ref: { id: 'echo', mode: long } },
  ])('a member that every frame repeats must be short, case %#', async (part) => {
    const [name = ''] = Object.keys(part);
    const answer = await caller.post({ ...CHAT, request_id: fresh(), ...part });
    expect(answer.status).toBe(400);
    const issues = [{ pointer: `/${name}`, message: expect.stringMatching(`^${name} must have at most`) }];
    expect(await answer.json()).toMatchObject({ code: 'invalid_message', issues });
  });

  test('a single message may be long', async () => {
    const sent = { ...CHAT, request_id: fresh(), channel_context: { long }, params: { content: 'a', long } };
    const [final = ''] = await allFrames(await caller.post(sent));
    expect(read(final)).toMatchObject({ is_final: true, status: 'succeeded' });
    expect(final).not.toContain(long);
  });

  test('a type it does not take, an answer it does not give', async () => {
    expect((await caller.postText('<a/>', 'application/xml')).status).toBe(415);
    expect((await caller.post({ ...CHAT, request_id: fresh() }, { accept: 'text/html' })).status).toBe(406);
  });
});

test('secrets are in no byte of what is kept and of the log', async () => {
  const canary = (name: string) => `sk-canary-${name}-4f1d9c`;
  const auth = {
    bearer_token: canary('bearer'),
    extra_headers: { 'x-vendor': canary('header') },
    credential_ref: 'named-credential',
  };
  const sent = { ...CHAT, auth, agent_ref: { id: 'slow' }, params: { content: 'a b' } };
  await allFrames(await caller.post({ ...sent, request_id: 'with-secrets' }));
  await caller.overSocket({ ...sent, request_id: 'with-secrets-by-socket', is_stream: true });
  // Also where it fails: an unknown agent, a conflict, a broken body.
  await caller.post({ ...sent, request_id: fresh(), agent_ref: { id: 'nobody' } });
  await caller.post({ ...sent, request_id: 'with-secrets', params: { content: 'z' } });
  await caller.postText(`{"auth":{"bearer_token":"${canary('broken')}"`);
  await allFrames(
    await caller.post(
      { ...sent, request_id: fresh(), agent_ref: { id: 'misbehaving' }, params: { how: 'throws' } },
      {},
    ),
  );
  const rejected = await call(system.url, { path: '/e2a/requests/x/responses', key: canary('wrong-key') });
  expect(rejected.status).toBe(401);

  const holding = async (text: string) => {
    const places = [...(await system.kept()), ['log', Buffer.from(system.log)] as const];
    return places.flatMap(([place, bytes]) => (bytes.includes(text) ? [place] : []));
  };
  // What is looked for would be found: the reference that was kept is.
  expect(await holding('named-credential')).not.toEqual([]);
  expect(await holding('sk-canary-')).toEqual([]);
  // Nor are the keys by which callers come in.
  for (const key of [caller.key, system.adminKey]) expect(await holding(key)).toEqual([]);
  // Nor when the write-ahead log is merged into the database and the server has ended.
  expect(await system.stop()).toEqual({ code: 0, signal: null });
  expect(await holding('sk-canary-')).toEqual([]);
});

function essence({ response_kind, body }: E2AResponse): object {
  return { kind: response_kind, body };
}
