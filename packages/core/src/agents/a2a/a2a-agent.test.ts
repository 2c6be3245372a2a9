import { createServer } from 'node:http';
import type { Json, JsonObject } from '@dragoman/protocols';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { listening } from '../../../test-support/ports.ts';
import { cardAt, type ScriptedAnswer, ScriptedPeer } from '../../../test-support/scripted-peer.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import { openGate } from '../../gate/network-gate.ts';
import { Pins } from '../../pins/pins.ts';
import type { Agent, AgentPart } from '../agent.ts';
import { asking, eventually, failureIn, TestContext } from '../call.contract.ts';
import { openA2aAgent, type PeerPlace } from './open-a2a-agent.ts';

let context: TestContext;
const opened: AsyncDisposable[] = [];

beforeEach(() => {
  context = new TestContext();
});
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const WORKING = { task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } } };
const COMPLETED = { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } } };
const artifact = (text: string, append = false) => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', artifact: { artifactId: 'a1', parts: [{ text }] }, append },
});
const whole = (text: string): ScriptedAnswer => ({ events: [WORKING, artifact(text), COMPLETED] });

async function peerWith(script: Readonly<Record<string, readonly ScriptedAnswer[]>>): Promise<ScriptedPeer> {
  const peer = await ScriptedPeer.start(script);
  peer.card = cardAt(peer.url);
  opened.push(peer);
  return peer;
}

function agentAt(peer: { readonly url: string }, place: Partial<PeerPlace> = {}, more: object = {}): Agent {
  const url = new URL(peer.url);
  const agent = openA2aAgent(
    'partner',
    { url, isCard: false, ...place },
    { ...context, gate: context.gate, clock: systemClock, ...more },
  );
  opened.push(agent);
  return agent;
}

describe('a conversation', () => {
  const sessionOf = (session_id: string, request_id: string) => ({ session_id, request_id });

  async function withSession(script: Readonly<Record<string, readonly ScriptedAnswer[]>>) {
    const peer = await peerWith(script);
    const { sessions } = memoryStore();
    for (const owner of ['ada', 'bob']) {
      const row = { owner, agentId: 'partner', sessionId: 's1', title: null, cwd: null, createdAt: 1, updatedAt: 1 };
      await sessions.create(row);
    }
    return { peer, agent: agentAt(peer, {}, { sessions }) };
  }
  const messages = (peer: ScriptedPeer) =>
    peer.requests
      .filter(({ method }) => method !== 'card')
      .map(({ body }) => (body['params'] as JsonObject)['message'] as JsonObject);

  test("uses the agent's context id, and only in its own session", async () => {
    const { peer, agent } = await withSession({ SendStreamingMessage: [whole('hi')] });
    await context.ask(agent, 'one', sessionOf('s1', 'r1'));
    await context.ask(agent, 'two', sessionOf('s1', 'r2'));
    await context.ask(agent, 'three', sessionOf('other', 'r3'));
    const bob = { ...context.call(), principal: { id: 'bob', kind: 'agent', permissions: ALL_PERMISSIONS } as const };
    for await (const _ of agent.answer(asking('four', sessionOf('s1', 'r4')), bob));
    expect(messages(peer).map(({ messageId, contextId }) => [messageId, contextId])).toEqual([
      ['r1', undefined],
      ['r2', 'c1'],
      ['r3', undefined],
      ['r4', undefined],
    ]);
    expect(JSON.stringify(peer.requests)).not.toContain('s1');
  });

  const asks = (...parts: Json[]) => ({
    statusUpdate: {
      taskId: 't1',
      contextId: 'c1',
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'q', role: 'ROLE_AGENT', parts } },
    },
  });

  test('a task that waits for input gets the answer of a person, and the next message starts another task', async () => {
    const { peer, agent } = await withSession({
      SendStreamingMessage: [
        { events: [WORKING, asks({ text: 'Which?' }, { data: { options: ['a', 'b'] } })] },
        whole('done'),
      ],
    });
    context.person = () => ({ action: 'selected', option_id: 'b' });
    expect(textIn(await context.ask(agent, 'go', sessionOf('s1', 'r1')))).toBe('done');
    expect(context.questions).toMatchObject([{ kind: 'choice', title: 'Which?', options: [{ id: 'a' }, { id: 'b' }] }]);
    await context.ask(agent, 'more', sessionOf('s1', 'r2'));
    expect(messages(peer)).toMatchObject([
      { messageId: 'r1', parts: [{ text: 'go' }] },
      { messageId: 'r1-1', parts: [{ text: 'b' }], taskId: 't1', contextId: 'c1' },
      { messageId: 'r2', contextId: 'c1' },
    ]);
    expect(messages(peer)[2]).not.toHaveProperty('taskId');
  });

  test('the next message of a session goes to a task that waits from an interrupted request', async () => {
    const { peer, agent } = await withSession({
      SendStreamingMessage: [{ events: [WORKING, asks({ text: 'Which?' })] }, whole('done')],
    });
    context.person = () => {
      throw new Error('the server stopped');
    };
    await context.ask(agent, 'go', sessionOf('s1', 'r1'));
    expect(textIn(await context.ask(agent, 'a', sessionOf('s1', 'r2')))).toBe('done');
    expect(messages(peer)[1]).toMatchObject({ messageId: 'r2', taskId: 't1', contextId: 'c1' });
  });

  test('the question of a task that ends without text is not its answer', async () => {
    const history = [{ messageId: 'q', role: 'ROLE_AGENT', parts: [{ text: 'Which?' }] }];
    const done = { task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' }, history } };
    const peer = await peerWith({
      SendStreamingMessage: [{ events: [WORKING, asks({ text: 'Which?' })] }, { events: [done] }],
    });
    context.person = () => ({ content: { answer: 'this' } });
    expect(await context.ask(agentAt(peer), 'go')).toEqual([{ part: 'complete', result: null }]);
  });

  test('a sign-in that is declined ends the request and the task', async () => {
    const status = { state: 'TASK_STATE_AUTH_REQUIRED', message: { role: 'ROLE_AGENT', parts: [{ text: 'Sign in' }] } };
    const peer = await peerWith({
      SendStreamingMessage: [{ events: [WORKING, { statusUpdate: { taskId: 't1', status } }], after: 'hang' }],
      CancelTask: [{ result: { id: 't1', status: { state: 'TASK_STATE_CANCELED' } } }],
    });
    const parts = await context.ask(agentAt(peer), 'go');
    expect(context.questions).toEqual([{ kind: 'auth', title: 'Sign in' }]);
    expect(failureIn(parts)).toMatchObject({ code: 'cancelled', message: expect.stringContaining('was declined') });
    await eventually(() => peer.methods).toContain('CancelTask');
  });

  test('a sign-in may take longer than an agent may be silent', async () => {
    const status = { state: 'TASK_STATE_AUTH_REQUIRED', message: { role: 'ROLE_AGENT', parts: [{ text: 'Sign in' }] } };
    const peer = await peerWith({
      SendStreamingMessage: [{ events: [WORKING, { statusUpdate: { taskId: 't1', status } }], after: 'hang' }],
      CancelTask: [{ result: { id: 't1', status: { state: 'TASK_STATE_CANCELED' } } }],
    });
    let decline = () => {};
    context.person = () =>
      new Promise((resolve) => {
        decline = () => resolve({ action: 'decline' });
      });
    const answer = context.ask(agentAt(peer, {}, { clock: context.clock }), 'go');
    await eventually(() => context.questions).toHaveLength(1);
    for (let minute = 0; minute < 60; minute++) {
      context.clock.pass(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    decline();
    expect(failureIn(await answer)).toMatchObject({ code: 'cancelled' });
  });

  test('that the agent has lost is started again', async () => {
    const lost = { error: { code: -32602, message: 'Unknown context c1' } };
    const { peer, agent } = await withSession({ SendStreamingMessage: [whole('one'), lost, whole('two')] });
    await context.ask(agent, 'x', sessionOf('s1', 'r1'));
    expect(textIn(await context.ask(agent, 'y', sessionOf('s1', 'r2')))).toBe('two');
    expect(messages(peer).map(({ contextId }) => contextId)).toEqual([undefined, 'c1', undefined]);
  });
});

describe('sent messages', () => {
  test('is a message with the request id, the accepted modes and the version', async () => {
    const peer = await peerWith({ SendStreamingMessage: [whole('hi')] });
    await context.ask(agentAt(peer), 'hello', { request_id: 'r9', a2a_metadata: { trace: 1 } });
    const { body, headers } = peer.requests.find(({ method }) => method !== 'card') ?? expect.unreachable();
    expect(headers['a2a-version']).toBe('1.0');
    expect(body['params']).toEqual({
      message: { messageId: 'r9', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
      configuration: { acceptedOutputModes: ['text/plain', 'application/json'] },
      metadata: { trace: 1 },
    });
  });

  test('goes to HTTP+JSON where the card has nothing else, with the tenant in the path', async () => {
    const send = {
      type: 'text/event-stream',
      body: [WORKING, artifact('rest'), COMPLETED].map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''),
    };
    const peer = await peerWith({ 'POST /base/acme/message:stream': [send] });
    const listed = { url: `${peer.url}/base/`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'acme' };
    peer.card = cardAt(peer.url, { supportedInterfaces: [listed] });
    expect(textIn(await context.ask(agentAt(peer), 'x'))).toBe('rest');
  });

  test('needs no card where the version is configured', async () => {
    const peer = await peerWith({
      'message/stream': [{ events: [{ kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'old' }] }] }],
    });
    expect(textIn(await context.ask(agentAt(peer, { version: '0.3' }), 'x'))).toBe('old');
    expect(peer.methods).toEqual(['message/stream']);
    expect(peer.requests[0]?.body['params']).toMatchObject({
      message: { kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'x' }] },
      configuration: { blocking: true },
    });
  });

  test("sends headers written as text to the operator's host only", async () => {
    const other = await peerWith({ SendStreamingMessage: [whole('elsewhere')] });
    const peer = await peerWith({ SendStreamingMessage: [whole('here')] });
    const headers = { 'X-Team': 'blue' };
    await context.ask(agentAt(peer, { headers }), 'x');
    expect(peer.requests.map(({ headers: sent }) => sent['x-team'])).toEqual(['blue', 'blue']);
    peer.card = cardAt(other.url);
    const gate = openGate({
      clock: systemClock,
      log: context.log,
      callbacks: [{ host: '127.0.0.1', port: Number(new URL(other.url).port) }],
    });
    expect(textIn(await context.ask(agentAt(peer, { headers }, { gate }), 'x'))).toBe('elsewhere');
    expect(other.requests.map(({ headers: sent }) => sent['x-team'])).toEqual([undefined]);
  });
});

describe('a card', () => {
  test("cannot lead into the private network, nor to one of the operator's own destinations", async () => {
    const inside = await peerWith({ SendStreamingMessage: [whole('secret')] });
    const peer = await peerWith({});
    peer.card = cardAt(inside.url);
    expect(failureIn(await context.ask(agentAt(peer), 'x'))).toMatchObject({ code: 'forbidden' });
    const allow = [{ host: '127.0.0.1', port: Number(new URL(inside.url).port) }];
    const gate = openGate({ clock: systemClock, log: context.log, allow });
    expect(failureIn(await context.ask(agentAt(peer, {}, { gate }), 'x'))).toMatchObject({ code: 'forbidden' });
    expect(inside.requests).toEqual([]);
  });

  test('is requested once, and with its ETag when it expires', async () => {
    const peer = await peerWith({ SendStreamingMessage: [whole('hi')] });
    peer.etag = '"one"';
    let elapsed = 0;
    const clock = { ...systemClock, elapsed: () => elapsed };
    const agent = agentAt(peer, {}, { clock });
    for (const at of [0, 1, 400_000]) {
      elapsed = at;
      expect(textIn(await context.ask(agent, 'x'))).toBe('hi');
    }
    const cards = peer.requests
      .filter(({ method }) => method === 'card')
      .map(({ headers }) => headers['if-none-match']);
    expect(cards).toEqual([undefined, '"one"']);
  });

  test('that has changed is held until it is accepted; a new release number is not a change', async () => {
    const peer = await peerWith({ SendStreamingMessage: [whole('hi')] });
    const pins = new Pins({ store: memoryStore().pins, clock: systemClock });
    const ask = () => context.ask(agentAt(peer, {}, { pins }), 'x');
    expect(textIn(await ask())).toBe('hi');
    peer.card = cardAt(peer.url, { version: '8' });
    expect(textIn(await ask())).toBe('hi');
    peer.card = cardAt(peer.url, { skills: [{ id: 'pay', name: 'Pay', description: 'Moves money.', tags: [] }] });
    const failure = failureIn(await ask());
    expect(failure).toMatchObject({ code: 'agent_failed', retryable: false });
    expect(failure?.message).toContain('has changed since it was last accepted');
    expect(failure?.details.suggestions?.[0]).toContain('agents accept partner');
    expect(context.logged).toContain(
      'the card of an agent has changed: the agent is blocked until an operator accepts the new card',
    );
    const [held = ''] = pins.held();
    await pins.accept(held);
    expect(textIn(await ask())).toBe('hi');
  });

  test.each([
    [
      'no supported interface',
      { supportedInterfaces: [{ url: 'grpc.example.com:443', protocolBinding: 'GRPC', protocolVersion: '1.0' }] },
      'must list a JSONRPC',
    ],
    ['no name', { name: '' }, 'name must be a string'],
    [
      'an unknown version',
      { supportedInterfaces: [{ url: 'https://a.example.com', protocolBinding: 'JSONRPC', protocolVersion: '9.0' }] },
      'must list a JSONRPC',
    ],
  ])('with %s is reported', async (_, change, words) => {
    const peer = await peerWith({});
    peer.card = cardAt(peer.url, change as JsonObject);
    expect(failureIn(await context.ask(agentAt(peer), 'x'))?.message).toContain(words);
  });

  test('that is missing is reported with the URLs that were tried', async () => {
    const peer = await peerWith({});
    peer.card = undefined;
    expect(failureIn(await context.ask(agentAt(peer), 'x'))?.message).toContain(
      '/.well-known/agent-card.json: it answered with HTTP status 404',
    );
  });
});

describe('a hostile agent', () => {
  const failureOf = async (answer: ScriptedAnswer, place: Partial<PeerPlace> = { version: '1.0' }) => {
    const peer = await peerWith({ SendStreamingMessage: [answer], SendMessage: [answer] });
    const parts = await context.ask(agentAt(peer, place), 'x');
    return { failure: failureIn(parts), parts, peer };
  };

  test.each([301, 302, 307, 308])('that redirects with %i is not followed', async (status) => {
    const { failure, peer } = await failureOf({ status, headers: { location: '/elsewhere' }, body: '' });
    expect(failure?.message).toContain('redirect, which is not followed');
    expect(peer.methods).toEqual(['SendStreamingMessage']);
  });

  test('that answers 500 as text is reported with the text, and may be tried again', async () => {
    const { failure } = await failureOf({ status: 500, type: 'text/html', body: '<h1>Traceback</h1>' });
    expect(failure).toMatchObject({ code: 'agent_failed', retryable: true, details: { status: 500 } });
    expect(failure?.message).toContain('<h1>Traceback</h1>');
  });

  test('that rejects the credential is reported with what to do', async () => {
    const { failure } = await failureOf({ status: 401, error: { code: -32603, message: 'no' } });
    expect(failure).toMatchObject({
      retryable: false,
      details: { status: 401, suggestions: [expect.stringContaining('credential')] },
    });
  });

  test('that is busy is reported with how long to wait', async () => {
    const { failure } = await failureOf({
      status: 429,
      headers: { 'retry-after': '7' },
      error: { code: -32603, message: 'slow down' },
    });
    expect(failure).toMatchObject({ retryable: true, details: { retry_after: 7 } });
  });

  test('that sends a result and an error loses no text, and fails', async () => {
    const both = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      result: artifact('some text'),
      error: { code: -32603, message: 'and yet' },
    });
    const { failure, parts } = await failureOf({ type: 'text/event-stream', body: `data: ${both}\n\n` });
    expect(textIn(parts)).toBe('some text');
    expect(failure?.message).toContain('and yet');
  });

  test.each([
    ['deep', `{"jsonrpc":"2.0","id":1,"result":{"task":${'['.repeat(5000)}${']'.repeat(5000)}}}`],
    ['cut off', '{"jsonrpc":"2.0","id":1,"result":{"ta'],
    ['with the same key twice', '{"jsonrpc":"2.0","result":{},"result":{}}'],
  ])('that sends JSON that is %s fails', async (_, body) => {
    const { failure } = await failureOf({ type: 'application/json', body });
    expect(failure?.message).toContain('JSON that cannot be read');
  });

  test('that sends more than a frame may hold fails', async () => {
    const { failure } = await failureOf({
      type: 'application/json',
      body: JSON.stringify({ result: artifact('x'.repeat(9 * 1024 * 1024)) }),
    });
    expect(failure?.message).toContain('cannot be read');
  });

  test.each<[string, Json]>([
    ['a number', 7],
    ['an unknown kind', { kind: 'telegram' }],
    ['null', null],
    ['an empty object', {}],
  ])('that answers with %s fails', async (_, result) => {
    expect((await failureOf({ result })).failure?.message).toContain('something other than a task');
  });

  test('that ends its stream without an event fails', async () => {
    expect((await failureOf({ events: [] })).failure?.message).toContain('stream_lost');
  });

  test('that keeps its stream open after the end is not waited for', async () => {
    const { parts } = await failureOf({ events: [WORKING, artifact('done'), COMPLETED], after: 'hang' });
    expect(parts.at(-1)).toEqual({ part: 'complete', result: null });
  });

  test('that reports work after its end has ended all the same', async () => {
    const { parts } = await failureOf({ events: [WORKING, artifact('done'), COMPLETED, WORKING, artifact('done')] });
    expect(textIn(parts)).toBe('done');
    expect(parts.at(-1)).toEqual({ part: 'complete', result: null });
  });

  test('that repeats its stream from the beginning sends no text twice', async () => {
    const peer = await peerWith({
      SendStreamingMessage: [{ events: [WORKING, artifact('one '), artifact('two ', true)], after: 'cut' }],
      SubscribeToTask: [{ events: [artifact('one '), artifact('two ', true), artifact('three', true), COMPLETED] }],
      GetTask: [{ error: { code: -32001, message: 'Task not found' } }],
    });
    const parts = await context.ask(agentAt(peer), 'x');
    expect(textIn(parts)).toBe('one two three');
    expect(parts.at(-1)).toEqual({ part: 'complete', result: null });
  });

  test('that has lost the task of a broken stream fails', async () => {
    const peer = await peerWith({
      SendStreamingMessage: [{ events: [WORKING, artifact('half')], after: 'cut' }],
      SubscribeToTask: [{ error: { code: -32001, message: 'Task not found' } }],
      GetTask: [{ error: { code: -32001, message: 'Task not found' } }],
    });
    const failure = failureIn(await context.ask(agentAt(peer), 'x'));
    expect(failure).toMatchObject({ code: 'agent_failed', retryable: true });
    expect(failure?.message).toContain('stream_lost');
  });

  test('that never ends receives a cancellation when the request is cancelled, and is not waited for', async () => {
    const peer = await peerWith({
      SendStreamingMessage: [{ events: [WORKING, artifact('tick')], after: 'hang' }],
      CancelTask: [{ result: { id: 't1', status: { state: 'TASK_STATE_CANCELED' } } }],
    });
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const parts: AgentPart[] = [];
    const reading = (async () => {
      for await (const part of agentAt(peer).answer(asking('x'), context.call(controller.signal))) {
        parts.push(part);
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(textIn(parts)).toBe('tick');
    await eventually(() => peer.methods.at(-1)).toBe('CancelTask');
    expect(peer.requests.at(-1)?.body['params']).toEqual({ id: 't1' });
  });

  test('that sends nothing for too long fails', async () => {
    const peer = await peerWith({ SendStreamingMessage: [{ events: [WORKING], after: 'hang' }] });
    const agent = agentAt(peer, {}, { clock: context.clock });
    const answer = context.ask(agent, 'x');
    await eventually(() => peer.methods).toContain('SendStreamingMessage');
    const passing = setInterval(() => context.clock.pass(60_000), 5);
    expect(failureIn(await answer)).toMatchObject({ code: 'timeout' });
    clearInterval(passing);
  });

  test('that does not listen is reported as unreachable', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const failure = failureIn(await context.ask(agentAt({ url: `http://127.0.0.1:${port}` }, { version: '1.0' }), 'x'));
    expect(failure?.message).toContain('The remote agent could not be reached');
  });
});

function textIn(parts: readonly AgentPart[]): string {
  return parts
    .flatMap((part) => (part.part === 'chunk' && part.body['delta_kind'] === 'text' ? [part.body['delta']] : []))
    .join('');
}
