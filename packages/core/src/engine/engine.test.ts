import { newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { heldOf, rememberingHolds } from '../../test-support/held-runs.ts';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import type { Agent } from '../agents/agent.ts';
import { moduleAgent } from '../agents/module-agent.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { Engine } from './engine.ts';

const log = new SilentLog();

function newEngine(): Engine {
  return new Engine({ store: memoryStore(), clock: new TestClock(), ids: new TestIds(), log });
}

/** An agent that answers with its name when released, and records whether it was closed. */
class Held {
  readonly agent: Agent;
  readonly started: Promise<void>;
  isEnded = false;
  answer: () => void = () => {};

  constructor(name: string) {
    const held = new Promise<void>((resolve) => {
      this.answer = resolve;
    });
    let begin = () => {};
    this.started = new Promise((resolve) => {
      begin = resolve;
    });
    const agent = moduleAgent('desk', async function* () {
      begin();
      await held;
      yield name;
    });
    this.agent = { ...agent, [Symbol.asyncDispose]: async () => this.end() };
  }

  end(): void {
    this.isEnded = true;
  }
}

/** The answer of the agent `desk`, as one text. */
async function answerOf(engine: Engine, requestId: string, query = 'who?'): Promise<string> {
  const principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  const envelope = newEnvelope({
    request_id: requestId,
    method: 'chat.send',
    agent_ref: { id: 'desk' },
    params: { query },
    is_stream: true,
  });
  const parts: string[] = [];
  for await (const { body } of engine.handle(envelope, { principal, signal: new AbortController().signal, log })) {
    if (typeof body['delta'] === 'string') parts.push(body['delta']);
  }
  return parts.join('');
}

/** An engine whose agent is replaced while it answers. */
async function replaced() {
  const engine = newEngine();
  const [first, second] = [new Held('the first'), new Held('the second')];
  engine.addAgent(first.agent);
  const answer = answerOf(engine, 'r1');
  await first.started;
  engine.addAgent(second.agent);
  return { engine, first, second, answer };
}

test('an agent that is replaced finishes what it is answering, and is ended then', async () => {
  const { engine, first, second, answer } = await replaced();
  second.answer();
  expect(await answerOf(engine, 'r2')).toBe('the second');
  expect(first.isEnded).toBe(false);
  first.answer();
  expect(await answer).toBe('the first');
  await expect.poll(() => first.isEnded).toBe(true);
  expect(second.isEnded).toBe(false);
});

test('an agent that is removed finishes its running answers, and gets no further requests', async () => {
  const engine = newEngine();
  const desk = new Held('still here');
  engine.addAgent(desk.agent);
  const answer = answerOf(engine, 'r1');
  await desk.started;
  engine.retireAgent('desk');
  await expect(answerOf(engine, 'r2')).rejects.toMatchObject({ failure: { code: 'no_route' } });
  expect(desk.isEnded).toBe(false);
  desk.answer();
  expect(await answer).toBe('still here');
  await expect.poll(() => desk.isEnded).toBe(true);
});

test('an answer of a removed agent is repeated for a caller with permission', async () => {
  const engine = newEngine();
  const desk = new Held('still here');
  engine.addAgent(desk.agent);
  desk.answer();
  expect(await answerOf(engine, 'r1')).toBe('still here');
  engine.retireAgent('desk');
  expect(await answerOf(engine, 'r1')).toBe('still here');
  await expect(answerOf(engine, 'r1', 'another')).rejects.toMatchObject({ failure: { code: 'conflict' } });
});

test('an answer of the default agent is not repeated for a caller without permission', async () => {
  const engine = newEngine();
  const desk = new Held('still here');
  engine.addAgent(desk.agent);
  engine.router.defaultAgent = 'desk';
  desk.answer();
  const ask = async (agents: readonly string[]) => {
    const principal = { id: 'ada', kind: 'agent', permissions: { ...ALL_PERMISSIONS, agents } } as const;
    const envelope = newEnvelope({ request_id: 'r1', method: 'chat.send' });
    const call = { principal, signal: new AbortController().signal, log };
    for await (const { is_final } of engine.handle(envelope, call)) if (is_final) return 'answered';
    return 'not answered';
  };
  expect(await ask(['desk'])).toBe('answered');
  engine.retireAgent('desk');
  engine.router.defaultAgent = undefined;
  expect(await ask(['desk'])).toBe('answered');
  await expect(ask(['other'])).rejects.toMatchObject({ failure: { code: 'no_route' } });
});

test.each([
  [['desk', 'desc'], { suggestions: ['did you mean desk?'] }],
  [['desc'], {}],
])('for an unknown agent only permitted agents are suggested: %j', async (agents, details) => {
  const engine = newEngine();
  engine.addAgent(new Held('here').agent);
  const principal = { id: 'ada', kind: 'agent', permissions: { ...ALL_PERMISSIONS, agents } } as const;
  const envelope = newEnvelope({ request_id: 'r1', method: 'chat.send', agent_ref: { id: 'desc' } });
  const call = { principal, signal: new AbortController().signal, log };
  const asking = (async () => {
    for await (const _ of engine.handle(envelope, call));
  })();
  await expect(asking).rejects.toHaveProperty('failure.details', details);
});

test('an engine that stops has ended the agents that were replaced', async () => {
  const { engine, first, second, answer } = await replaced();
  const stopped = engine.stop({ drainMs: 60_000 });
  first.answer();
  expect(await answer).toBe('the first');
  await stopped;
  expect([first.isEnded, second.isEnded]).toEqual([true, true]);
});

test('an engine that has stopped refuses requests because it stops, not for want of an agent', async () => {
  const engine = newEngine();
  engine.addAgent(new Held('here').agent);
  await engine.stop({ drainMs: 0 });
  const principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  const envelope = newEnvelope({ request_id: 'r1', method: 'chat.send', agent_ref: { id: 'desk' } });
  const asking = (async () => {
    for await (const _ of engine.handle(envelope, { principal, signal: new AbortController().signal, log }));
  })();
  await expect(asking).rejects.toMatchObject({ failure: { code: 'busy', message: 'The server is stopping.' } });
});

test('requests interrupted by an outage of days keep their final frame after the restart', async () => {
  const clock = new TestClock();
  const earlier = rememberingHolds(memoryStore());
  const threeDaysAgo = clock.now().getTime() - 72 * 3_600_000;
  const row = {
    owner: 'ada',
    agentId: 'desk',
    sessionId: null,
    idempotencyKey: null,
    envelope: '{}',
    state: 'started',
    acceptedAt: threeDaysAgo,
    expiresAt: null,
    priority: 1,
  } as const;
  const key = (requestId: string) => ({ owner: 'ada', requestId });
  await earlier.requests.accept({ ...row, requestId: 'ended' });
  await earlier.requests.append(heldOf(earlier, key('ended')), [{ sequence: 0, isFinal: true, text: '{}' }]);
  await earlier.requests.accept({ ...row, requestId: 'interrupted' });
  const store = nextProcess(earlier);
  const engine = new Engine({ store, clock, ids: new TestIds(), log });
  await engine.start();
  clock.pass(1000);
  // Housekeeping was here.
  await expect.poll(() => store.requests.find(key('ended'))).toBeUndefined();
  const range = { after: -1, limit: 10, maxBytes: 1_000_000 };
  expect((await store.requests.frames(key('interrupted'), range)).map(({ text }) => text)).toEqual([
    expect.stringContaining('E2A.INTERRUPTED'),
  ]);
  await engine.stop({ drainMs: 0 });
});

test('a repeatable answer continues after a restart without the recorded frames, even in another order', async () => {
  const earlier = memoryStore();
  const clock = new TestClock();
  const agentOf = (...texts: readonly string[]): Agent => ({
    id: 'desk',
    frameKey: ({ body }) => String(body['delta']),
    async *answer(_, { running }) {
      for (const delta of texts) yield { part: 'chunk', body: { delta_kind: 'text', delta } };
      if (running?.isResumed === true) yield { part: 'complete', result: 'done' };
      else await new Promise(() => {});
    },
    async [Symbol.asyncDispose]() {},
  });
  const principal = { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS } as const;
  const envelope = newEnvelope({ request_id: 'r', method: 'chat.send', agent_ref: { id: 'desk' }, is_stream: true });
  const call = { principal, signal: new AbortController().signal, log };
  const first = new Engine({ store: earlier, clock, ids: new TestIds(), log });
  first.addAgent(agentOf('a', 'b', 'twice', 'twice'));
  const before = first.handle(envelope, call);
  const seen: unknown[] = [];
  while (seen.length < 4) for (const { text } of await before.next()) seen.push(text);

  const store = nextProcess(earlier);
  const engine = new Engine({ store, clock, ids: new TestIds(), log });
  engine.addAgent(agentOf('b', 'new', 'twice', 'a', 'twice', 'twice'));
  await engine.start();
  const frames: unknown[] = [];
  for await (const { sequence, body } of engine.runs.read({ owner: 'admin', requestId: 'r' }, -1)) {
    frames.push([sequence, body['delta'] ?? body['result']]);
  }
  expect(frames).toEqual([
    [0, 'a'],
    [1, 'b'],
    [2, 'twice'],
    [3, 'twice'],
    [4, 'new'],
    [5, 'twice'],
    [6, 'done'],
  ]);
  await engine.stop({ drainMs: 0 });
});

test('a stop leaves it to the next start', async () => {
  const store = memoryStore();
  const clock = new TestClock();
  const engine = new Engine({ store, clock, ids: new TestIds(), log });
  engine.addAgent({
    id: 'desk',
    frameKey: () => '',
    async *answer() {
      await new Promise(() => {});
    },
    async [Symbol.asyncDispose]() {},
  });
  const answer = answerOf(engine, 'r');
  await expect.poll(() => engine.runs.running('ada')).toHaveLength(1);
  await Promise.all([
    expect(answer).rejects.toMatchObject({ failure: { code: 'busy' } }),
    engine.stop({ drainMs: 0 }),
    expect.poll(() => clock.pass(1000)).toBeUndefined(),
  ]);
  expect(await store.requests.find({ owner: 'ada', requestId: 'r' })).toMatchObject({ state: 'started' });
});
