import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { envelopeFromA2aSendMessage } from '../../packages/protocols/src/e2a/adapters/a2a.ts';
import { envelopeFromAcpJsonrpc } from '../../packages/protocols/src/e2a/adapters/acp.ts';
import type { E2AEnvelope } from '../../packages/protocols/src/e2a/envelope.ts';
import { encodeEnvelope } from '../../packages/protocols/src/e2a/write.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { allFrames } from './call.ts';
import { Caller, type Envelope, expectOrdered, fresh, read } from './caller.ts';
import { moduleAgent, System } from './system.ts';

const system = await System.start({
  config: {
    default_agent: 'echo',
    agents: {
      echo: moduleAgent('echo'),
      todos: moduleAgent('todos'),
      held: moduleAgent('held'),
      reporter: moduleAgent('reporter'),
      misbehaving: moduleAgent('misbehaving'),
      slow: moduleAgent('load'),
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const caller = new Caller(system, (await system.caller('caller-agent')).api_key);

const CHAT = { method: 'chat.send', params: { content: 'hello there' } };
const HELD = { method: 'chat.send', agent_ref: { id: 'held' }, params: {} };

describe('chat.interrupt', () => {
  const interrupt = async (session: string, intent?: string) => {
    const params = { session_id: session, ...(intent && { intent }) };
    return read((await allFrames(await caller.post({ request_id: fresh(), method: 'chat.interrupt', params })))[0])
      .body;
  };

  test.each([undefined, 'cancel', 'supplement'])('intent %s ends what runs in the session', async (intent) => {
    const [session, id] = [fresh(), fresh()];
    const stream = await caller.post(
      { ...HELD, request_id: id, session_id: session, is_stream: true },
      { accept: 'text/event-stream' },
    );
    const frames = stream.frames();
    await frames.next();
    expect(await interrupt(session, intent)).toMatchObject({
      result: { event_type: 'chat.interrupt_result', success: true, intent: intent ?? 'cancel' },
    });
    expect(read((await frames.next()).value)).toMatchObject({ is_final: true, body: { code: 'E2A.CANCELLED' } });
  });

  test('pause holds it where it is, resume lets it continue, and nothing is lost', async () => {
    const [session, id] = [fresh(), fresh()];
    const params = { content: 'a b c d e f', pause_ms: 15 };
    const envelope = {
      ...CHAT,
      request_id: id,
      session_id: session,
      is_stream: true,
      agent_ref: { id: 'slow' },
      params,
    };
    const frames = (await caller.post(envelope, { accept: 'text/event-stream' })).frames();
    await frames.next();
    await interrupt(session, 'pause');
    const there = (await caller.resumeNow(id)).length;
    await delay(100);
    // One may have been on its way already.
    const held = (await caller.resumeNow(id)).length;
    expect(held).toBeLessThanOrEqual(there + 1);
    expect(held).toBeLessThan(7);
    await interrupt(session, 'resume');
    const whole = await caller.resume(id);
    expectOrdered(whole.map(read));
    expect(read(whole.at(-1)).body).toEqual({ result: { echoed: params.content } });
  });

  test('that names an agent leaves the answer of another in the same session alone', async () => {
    const session = fresh();
    const open = (envelope: JsonObject) =>
      caller.post(
        { ...envelope, request_id: fresh(), session_id: session, is_stream: true },
        { accept: 'application/x-ndjson' },
      );
    const words = { content: 'a b c d', pause_ms: 50 };
    const [going, held] = [await open({ ...CHAT, agent_ref: { id: 'slow' }, params: words }), await open(HELD)];
    const stop = async (agent: string) => {
      const interrupt = { request_id: fresh(), method: 'chat.interrupt', params: { session_id: session } };
      return read((await allFrames(await caller.post(interrupt, { path: `/e2a/agents/${agent}` })))[0]).body;
    };
    expect(await stop('held')).toMatchObject({ result: { message: 'cancel: 1 running' } });
    expect(read((await allFrames(held)).at(-1))).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
    expect(read((await allFrames(going)).at(-1))).toMatchObject({ status: 'succeeded' });
    expect(await stop('nobody')).toMatchObject({ code: 'E2A.NO_ROUTE' });
  });

  test('succeeds where nothing runs, and refuses an intent it does not know', async () => {
    expect(await interrupt(fresh(), 'cancel')).toMatchObject({ result: { success: true } });
    expect(await interrupt(fresh(), 'explode')).toMatchObject({ code: 'E2A.INVALID_MESSAGE' });
  });
});

describe('history.get', () => {
  const session = 'long-talk';

  test('is paged, newest first, all at once or as a stream', async () => {
    for (let number = 0; number < 53; number += 1) {
      await allFrames(
        await caller.post(
          { ...CHAT, request_id: `turn-${number}`, session_id: session, params: { content: `n${number}` } },
          {},
        ),
      );
    }
    const page = async (page_idx: number) =>
      (await caller.rpc('history.get', { session_id: session, page_idx })) as {
        total: number;
        total_pages: number;
        messages: Turn[];
      };
    const [first, second, third] = [await page(1), await page(2), await page(3)];
    expect([first.total, first.total_pages]).toEqual([53, 2]);
    const ids = [...first.messages, ...second.messages].map(({ request_id }) => request_id);
    expect(ids).toEqual(Array.from({ length: 53 }, (_, index) => `turn-${52 - index}`));
    expect(third.messages).toEqual([]);
    expect(first.messages[0]).toMatchObject({
      status: 'succeeded',
      params: { content: 'n52' },
      answer: { echoed: 'n52' },
    });

    const streamed = (
      await caller.overSocket({
        request_id: fresh(),
        method: 'history.get',
        is_stream: true,
        params: { session_id: session, page_idx: 2 },
      })
    ).map(read);
    expect(streamed.map(({ body }) => body['event_type'] ?? 'final')).toEqual([
      'history.message',
      'history.message',
      'history.message',
      'final',
    ]);
    expect(streamed.slice(0, 3).map(({ body }) => body['delta'])).toMatchObject(second.messages as object[]);
    expect(streamed.at(-1)?.body['result']).toMatchObject({ event_type: 'history.message', status: 'done', total: 53 });
    const head = (
      await caller.overSocket({
        request_id: fresh(),
        method: 'history.get',
        is_stream: true,
        params: { session_id: session },
      })
    ).map(read);
    // Nothing but messages: this agent has sent no plan.
    expect(new Set(head.slice(0, -1).map(({ body }) => body['event_type']))).toEqual(new Set(['history.message']));
  });

  test('returns the latest plan of the agent on its first page', async () => {
    const turn = async (agent: string, content: string) =>
      caller.overSocket({
        ...CHAT,
        request_id: fresh(),
        session_id: 'busy-talk',
        agent_ref: { id: agent },
        is_stream: true,
        params: { content },
      });
    await turn('todos', 'buy milk');
    await turn('todos', 'walk the dog');
    await turn('todos', '');
    const events = (
      await caller.overSocket({
        request_id: fresh(),
        method: 'history.get',
        is_stream: true,
        agent_ref: { id: 'todos' },
        params: { session_id: 'busy-talk' },
      })
    ).map(read);
    expect(events.map(({ body }) => body['event_type'] ?? 'final')).toEqual([
      'history.message',
      'history.message',
      'history.message',
      'todo.updated',
      'final',
    ]);
    expect(events.at(-2)?.body['delta']).toEqual({ event_type: 'todo.updated', todos: ['walk', 'the', 'dog'] });
  });

  test.each([{}, { session_id: session, page_idx: 0 }, { session_id: session, page_idx: 'x' }])(
    'refuses %j',
    async (params) => {
      expect(await caller.rpcBody('history.get', params)).toMatchObject({ code: 'E2A.INVALID_MESSAGE' });
    },
  );
});

describe('sessions', () => {
  test('are made, listed and deleted; a request makes its own', async () => {
    const { session_id: made } = (await caller.rpc('session.create', { title: 'A talk' })) as { session_id: string };
    const named = fresh();
    expect(await caller.rpc('session.create', { session_id: named })).toEqual({ session_id: named });
    const own = fresh();
    await allFrames(await caller.post({ ...CHAT, request_id: fresh(), session_id: own }));
    const listed = async () =>
      ((await caller.rpc('session.list', {})) as { sessions: { session_id: string; agent_id: string }[] }).sessions;
    expect(await listed()).toEqual(
      expect.arrayContaining(
        [made, named, own].map((session_id) => expect.objectContaining({ session_id, agent_id: 'echo' })),
      ),
    );
    expect(await caller.rpc('session.delete', { session_id: own })).toMatchObject({ deleted: true });
    expect((await listed()).map(({ session_id }) => session_id)).not.toContain(own);
    expect(await caller.rpcBody('session.delete', { session_id: own })).toMatchObject({ code: 'E2A.NOT_FOUND' });
    expect(await caller.rpc('history.get', { session_id: own })).toMatchObject({ total: 0, messages: [] });
  });

  test.each([7, '', 'A\0talk'])('take no title such as %j', async (title) => {
    expect(await caller.rpcBody('session.create', { title })).toMatchObject({ code: 'E2A.INVALID_MESSAGE' });
  });
});

describe('other methods', () => {
  test('initialize returns the capabilities of the server', async () => {
    expect(await caller.rpc('initialize', {})).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'dragoman' } });
  });

  test.each(['config.get', 'skills.install', 'session/load', 'command.btw'])(
    '%s, which the server does not have, is answered with E2A.UNKNOWN_METHOD over every transport',
    async (method) => {
      const wanted = { is_final: true, status: 'failed', body: { code: 'E2A.UNKNOWN_METHOD' } };
      expect((await caller.overSocket({ request_id: fresh(), method, params: {} })).map(read)).toMatchObject([wanted]);
      expect((await allFrames(await caller.post({ request_id: fresh(), method, params: {} }))).map(read)).toMatchObject(
        [wanted],
      );
    },
  );

  test('chat.resume, which belongs to the WebSocket, says over HTTP where the rest of an answer is', async () => {
    const [frame] = await allFrames(await caller.post({ method: 'chat.resume', params: { request_id: 'r' } }));
    const suggestions = ['GET /e2a/requests/{request_id}/responses?after=N'];
    expect(read(frame).body).toMatchObject({ code: 'E2A.UNKNOWN_METHOD', details: { suggestions } });
  });

  test.each([
    [
      'a heartbeat, which has no method',
      { method: null, channel: '__heartbeat__', params: { heartbeat: 'read HEARTBEAT.md' } },
    ],
    ['ext', { method: 'ext', ext_method: 'acme/paint', params: { colour: 'red' } }],
    ["an agent's own method", { method: 'paint.wall', params: { colour: 'red' } }],
  ])('%s reaches the agent as it was sent', async (_, parts) => {
    const envelope = { request_id: fresh(), agent_ref: { id: 'reporter' }, ...parts };
    const [frame] = await allFrames(await caller.post(envelope));
    expect(read(frame).body).toMatchObject({ result: { envelope: { ...envelope, source_agent_id: 'caller-agent' } } });
  });

  test('an unknown agent does not become the default one', async () => {
    const answer = await caller.post({ ...CHAT, request_id: fresh(), agent_ref: { id: 'ecko' } });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'no_route', suggestions: ['did you mean echo?'] });
  });

  test.each([
    ['throws', 'PRINTER.EMPTY'],
    ['ends twice', undefined],
    ['counts backwards', expect.anything()],
    ['talks nonsense', 'E2A.AGENT_ERROR'],
  ])('an agent that %s hurts only its own request, which still gets one ordered answer', async (how, code) => {
    const envelope = {
      request_id: fresh(),
      method: 'chat.send',
      agent_ref: { id: 'misbehaving' },
      is_stream: true,
      params: { how },
    };
    const frames = (await allFrames(await caller.post(envelope, { accept: 'text/event-stream' }))).map(read);
    expectOrdered(frames);
    expect(frames[0]?.body).toMatchObject({ delta: 'before' });
    expect(frames.at(-1)?.body['code']).toEqual(code);
  });
});

describe('envelopes of other protocols', () => {
  test('ACP: every frame has its session/update, the last one the response', async () => {
    const prompt = { sessionId: 'acp-1', prompt: [{ type: 'text', text: 'hello' }] };
    const made = envelopeFromAcpJsonrpc({
      method: 'session/prompt',
      params: prompt,
      jsonrpc_id: 7,
      session_id: 'acp-1',
    });
    const frames = (await caller.overSocket(sendable(made))).map(read);
    expect(frames.map(({ projections }) => projections['acp'])).toEqual([
      ...['hello', 'world'].map((text) => ({
        jsonrpc: '2.0',
        method: 'session/update',
        params: {
          sessionId: 'acp-1',
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
        },
      })),
      { jsonrpc: '2.0', id: 7, result: { stopReason: 'end_turn' } },
    ]);
  });

  test('LF A2A: every frame has its update of the artifact, the last one the task', async () => {
    const message = {
      messageId: 'm-1',
      role: 'ROLE_USER',
      contextId: 'c-1',
      taskId: 't-1',
      parts: [{ text: 'hello' }],
    };
    const made = envelopeFromA2aSendMessage({ message_body: message });
    const frames = (await allFrames(await caller.post(sendable(made), { accept: 'text/event-stream' }))).map(read);
    expect(frames.map(({ projections }) => projections['a2a'])).toMatchObject([
      { artifactUpdate: { taskId: 't-1', contextId: 'c-1', append: false, artifact: { parts: [{ text: 'hello' }] } } },
      { artifactUpdate: { taskId: 't-1', contextId: 'c-1', append: true, artifact: { parts: [{ text: 'world' }] } } },
      { task: { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' } } },
    ]);
  });
});

/** What an adapter made, as it goes over the wire, for an agent that answers with `params.content`. */
function sendable(made: E2AEnvelope): Envelope {
  const request_id = fresh();
  const encoded = encodeEnvelope({ ...made, request_id, is_stream: true, agent_ref: { id: 'slow' } }) as JsonObject;
  return { ...encoded, request_id, params: { ...made.params, content: 'hello world' } };
}

interface Turn {
  readonly request_id: string;
}
