import { type E2AEnvelope, type E2AResponse, FrameOrder, newEnvelope } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { memoryStore, nextProcess } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { answering } from '../agents/answering.ts';
import { type ModuleAgentFunction, moduleAgent } from '../agents/module-agent.ts';
import type { Call } from '../call/call.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { failureOf } from '../refusals/refused.ts';
import { requestRow } from '../store/requests.contract.ts';
import { StoreError } from '../store/store-error.ts';
import { frameText } from './frame-text.ts';
import { RunTable } from './run-table.ts';
import { Runs } from './runs.ts';

const ada: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };

function setUp(agent: ModuleAgentFunction, { maxParallel = 8, store = memoryStore(), idempotent = false } = {}) {
  const clock = new TestClock();
  const ids = new TestIds();
  const log = new SilentLog();
  const table = new RunTable({ clock });
  table.setLimit('agent', maxParallel);
  const runs = new Runs({ store, clock, ids, log, table, isIdempotent: () => idempotent });
  const handler = answering(moduleAgent('agent', agent), { clock, ids });
  const call = (given: Partial<Call> = {}): Call => ({
    principal: ada,
    signal: new AbortController().signal,
    log,
    ...given,
  });
  const open = (envelope: E2AEnvelope, given: Partial<Call> = {}) =>
    runs.open(
      envelope,
      call(given),
      { agentId: 'agent', sessionId: envelope.session_id, priority: 1, expiresAt: null },
      handler,
    );
  const recover = () => {
    table.recovers(runs.recoverable(() => call(), handler));
    return table.recover();
  };
  return { runs, store, clock, table, open, call, handler, recover, log };
}

const ask = (requestId: string, content = 'hello') =>
  newEnvelope({ request_id: requestId, method: 'chat.send', is_stream: true, params: { content } });

async function all(frames: AsyncIterable<E2AResponse>): Promise<E2AResponse[]> {
  const found: E2AResponse[] = [];
  for await (const frame of frames) found.push(frame);
  return found;
}

function inOrder(frames: readonly E2AResponse[]): void {
  const order = new FrameOrder();
  for (const frame of frames) expect(order.receive(frame)).toEqual([]);
  expect(order.end()).toEqual([]);
}

describe('a request that cannot be recorded', () => {
  test('takes no place from those that can', async () => {
    const { open } = setUp(
      async function* () {
        yield 'Hello';
        return {};
      },
      { maxParallel: 1 },
    );
    const unwritable = { ...ask('r1'), params: { content: 1n as unknown as string } };
    await expect(all(open(unwritable))).rejects.toThrow('BigInt');
    expect((await all(open(ask('r2')))).length).toBe(2);
  });
});

describe('a request that another process has claimed', () => {
  test('is not written to any more, and its readers are given what that process records', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = setUp(async function* () {
      yield 'one';
      await released;
      yield 'two';
      return {};
    });
    const frames = first.open(ask('r1'))[Symbol.asyncIterator]();
    expect((await frames.next()).value).toMatchObject({ sequence: 0 });
    const second = setUp(async function* () {}, { store: nextProcess(first.store) });
    await second.recover();
    release();
    const rest: E2AResponse[] = [];
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) rest.push(next.value);
    expect(rest).toMatchObject([{ sequence: 1, is_final: true, body: { code: 'E2A.INTERRUPTED' } }]);
    expect(await all(second.runs.read({ owner: 'ada', requestId: 'r1' }, 0))).toEqual(rest);
    expect(first.table.load.request).toEqual({ running: 0, waiting: 0 });
  });

  test('is ended by that process even if the store is away in between: nobody else does it', async () => {
    const first = setUp(async function* () {
      yield 'one';
      await new Promise(() => {});
    });
    const frames = first.open(ask('r1'))[Symbol.asyncIterator]();
    await frames.next();
    const store = nextProcess(first.store);
    let refusals = 0;
    const refusedOnce = <Arguments extends unknown[], Result>(work: (...values: Arguments) => Promise<Result>) => {
      let isFirst = true;
      return (...values: Arguments) => {
        if (!isFirst) return work(...values);
        isFirst = false;
        refusals += 1;
        return Promise.reject(new StoreError('store_unavailable', 'away'));
      };
    };
    const { claim, frames: read } = store.requests;
    store.requests.claim = refusedOnce(claim.bind(store.requests));
    store.requests.frames = refusedOnce(read.bind(store.requests));
    const second = setUp(async function* () {}, { store });
    let isOver = false;
    const recovered = second.recover().finally(() => {
      isOver = true;
    });
    while (!isOver) await second.clock.advance(100);
    await recovered;
    expect(refusals).toBe(2);
    expect(await all(second.runs.read({ owner: 'ada', requestId: 'r1' }, 0))).toMatchObject([
      { sequence: 1, is_final: true, body: { code: 'E2A.INTERRUPTED' } },
    ]);
  });

  test('while it waited for its turn is not given to the agent a second time', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answered: string[] = [];
    const by = (name: string): ModuleAgentFunction =>
      async function* ({ params }) {
        answered.push(`${name} ${params.content}`);
        if (params.content === 'holds') await released;
        yield name;
        return {};
      };
    const first = setUp(by('first'), { maxParallel: 1 });
    const held = all(first.open(ask('r1', 'holds')));
    const waiting = all(first.open(ask('r2', 'waits')));
    await expect.poll(() => first.table.load.request).toEqual({ running: 1, waiting: 1 });
    const second = setUp(by('second'), { store: nextProcess(first.store) });
    await second.recover();
    const there = await all(second.runs.read({ owner: 'ada', requestId: 'r2' }, -1));
    release();
    await held;
    expect(await waiting).toEqual(there);
    expect(answered).toEqual(['first holds', 'second waits']);
  });
});

describe('an answer', () => {
  test('is one frame for each yield plus the final one', async () => {
    const { open } = setUp(async function* () {
      yield 'Hello';
      yield { delta_kind: 'reasoning', delta: 'hm' };
      return { content: 'Hello' };
    });
    const frames = await all(open(ask('r1')));
    inOrder(frames);
    expect(frames.map((frame) => [frame.response_kind, frame.body])).toEqual([
      ['e2a.chunk', { delta_kind: 'text', delta: 'Hello' }],
      ['e2a.chunk', { delta_kind: 'reasoning', delta: 'hm' }],
      ['e2a.complete', { result: { content: 'Hello' } }],
    ]);
    expect(frames[0]).toMatchObject({ request_id: 'r1', method: 'chat.send', is_stream: true });
  });

  test('can be read again from any frame, byte for byte', async () => {
    const { open, runs } = setUp(async function* () {
      for (let i = 0; i < 20; i++) yield `word ${i} `;
      return {};
    });
    const first = (await all(open(ask('r1')))).map(frameText);
    for (const after of [-1, 0, 7, 19]) {
      const rest = (await all(runs.read({ owner: 'ada', requestId: 'r1' }, after))).map(frameText);
      expect(rest).toEqual(first.slice(after + 1));
    }
    expect(await all(runs.read({ owner: 'ada', requestId: 'r1' }, 20))).toEqual([]);
  });

  test('continues when its reader leaves', async () => {
    const gate = withResolvers();
    const { open, runs } = setUp(async function* () {
      yield 'one';
      await gate.promise;
      yield 'two';
      return {};
    });
    for await (const frame of open(ask('r1'))) {
      expect(frame.sequence).toBe(0);
      break;
    }
    gate.resolve();
    const rest = await all(runs.read({ owner: 'ada', requestId: 'r1' }, 0));
    expect(rest.map((frame) => frame.sequence)).toEqual([1, 2]);
  });

  test('of another principal is not there', async () => {
    const { open, runs } = setUp(async function* () {
      return {};
    });
    await all(open(ask('r1')));
    expect(await all(runs.read({ owner: 'eve', requestId: 'r1' }, -1))).toEqual([]);
  });
});

describe('a repeat', () => {
  test('with the same body gets the first answer and runs nothing', async () => {
    let runsOfAgent = 0;
    const { open } = setUp(async function* () {
      runsOfAgent++;
      yield 'x';
      return { n: runsOfAgent };
    });
    const first = await all(open(ask('r1')));
    const again = await all(open({ ...ask('r1'), timestamp: '2026-03-28T13:00:00Z' }));
    expect(again.map(frameText)).toEqual(first.map(frameText));
    expect(runsOfAgent).toBe(1);
  });

  test('while the first is running follows it', async () => {
    const gate = withResolvers();
    const { open } = setUp(async function* () {
      yield 'x';
      await gate.promise;
      return {};
    });
    const [first, second] = [all(open(ask('r1'))), all(open(ask('r1')))];
    gate.resolve();
    expect((await second).map(frameText)).toEqual((await first).map(frameText));
  });

  test('with another body is a conflict', async () => {
    const { open } = setUp(async function* () {
      return {};
    });
    await all(open(ask('r1')));
    const outcome = await all(open(ask('r1', 'something else'))).catch(failureOf);
    const suggestions = ['send the original body to get its answer, or use another id for this request'];
    expect(outcome).toMatchObject({ code: 'conflict', details: { request_id: 'r1', suggestions } });
  });

  test('by idempotency key is one even under another id', async () => {
    const { open } = setUp(async function* () {
      return {};
    });
    const first = await all(open(ask('r1'), { beside: { idempotencyKey: 'k' } }));
    const envelope = { ...ask('r1'), request_id: 'r2' };
    const again = await all(open(envelope, { beside: { idempotencyKey: 'k' } })).catch(failureOf);
    // The id is part of the body: the same key with another id is another body.
    const message = 'This Idempotency-Key was already used for "r1" with a different body.';
    expect(again).toMatchObject({ code: 'conflict', message });
    expect(first.at(-1)?.is_final).toBe(true);
  });
});

describe('a request that has expired', () => {
  const expiring = (agent: ModuleAgentFunction, options = {}) => {
    const made = setUp(agent, options);
    const open = (requestId: string) => {
      const expiresAt = new TestClock().now().getTime() + 1_000;
      const admission = { agentId: 'agent', sessionId: null, priority: 1, expiresAt };
      return all(made.runs.open(ask(requestId), made.call(), admission, made.handler));
    };
    return { ...made, open };
  };

  test('is refused before it is recorded, and takes no place', async () => {
    const { open, clock, store, table } = expiring(async function* () {
      return {};
    });
    clock.pass(1_000);
    expect(await open('late').catch(failureOf)).toMatchObject({ code: 'expired' });
    expect(await store.requests.find({ owner: 'ada', requestId: 'late' })).toBeUndefined();
    expect(Array.from({ length: 8 }, () => table.admit('request', 'agent', ada).hasSlot)).not.toContain(false);
  });

  test('while it waits for its turn ends with that, and its agent is not called', async () => {
    const gate = withResolvers();
    const called: unknown[] = [];
    const { open, clock, table } = expiring(
      async function* (envelope) {
        called.push(envelope.request_id);
        await gate.promise;
        return {};
      },
      { maxParallel: 1 },
    );
    const [first, second] = [open('first'), open('second')];
    await expect.poll(() => table.load.request.waiting).toBe(1);
    clock.pass(1_000);
    gate.resolve();
    expect(await first).toMatchObject([{ status: 'succeeded' }]);
    expect(await second).toMatchObject([{ is_final: true, status: 'failed', body: { code: 'E2A.EXPIRED' } }]);
    expect(called).toEqual(['first']);
  });

  test('and was answered in time gets that answer again', async () => {
    const { open, clock } = expiring(async function* () {
      return { content: 'in time' };
    });
    const first = await open('r1');
    clock.pass(5_000);
    expect(await open('r1')).toEqual(first);
  });
});

describe('an agent that misbehaves hurts only its own answer', () => {
  const cases: Record<string, { agent: ModuleAgentFunction; code: string }> = {
    'throws before the first frame': {
      agent: async function* () {
        throw new Error('boom at /secret/path');
      },
      code: 'E2A.AGENT_ERROR',
    },
    'throws with a code of its own': {
      agent: async function* () {
        yield 'x';
        throw Object.assign(new Error('no coins'), { code: 'OUT_OF_COINS' });
      },
      code: 'OUT_OF_COINS',
    },
    'yields an invalid frame': {
      agent: async function* () {
        yield 42;
      },
      code: 'E2A.AGENT_ERROR',
    },
  };

  test.each(Object.entries(cases))('%s', async (_, { agent, code }) => {
    const { open } = setUp(agent);
    const frames = await all(open(ask('r1')));
    inOrder(frames);
    expect(frames.at(-1)).toMatchObject({ response_kind: 'e2a.error', status: 'failed', body: { code } });
  });

  test('ends twice: the first end counts', async () => {
    const { open } = setUp(async function* () {
      yield { response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body: { result: 1 } };
      yield { response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body: { result: 2 } };
      return {};
    });
    const frames = await all(open(ask('r1')));
    inOrder(frames);
    expect(frames.map((frame) => frame.body)).toEqual([{ result: 1 }]);
  });

  test('hangs: cancelling still ends it at once', async () => {
    const { open, runs } = setUp(async function* () {
      yield 'x';
      await new Promise(() => {});
    });
    const frames: E2AResponse[] = [];
    for await (const frame of open(ask('r1'))) {
      frames.push(frame);
      if (frame.sequence === 0) expect(runs.cancel({ owner: 'ada', requestId: 'r1' })).toBe(true);
    }
    inOrder(frames);
    expect(frames.at(-1)).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
    expect(runs.cancel({ owner: 'ada', requestId: 'r1' })).toBe(false);
  });
});

describe('after a restart', () => {
  test('accepted requests run, started ones end as interrupted, and a second recovery changes nothing', async () => {
    const never = new Promise<never>(() => {});
    const first = setUp(
      async function* () {
        yield 'started';
        await never;
      },
      { maxParallel: 1 },
    );
    await first.open(ask('started'))[Symbol.asyncIterator]().next();
    void first.open(ask('waiting'))[Symbol.asyncIterator]().next();
    await expect
      .poll(
        async () =>
          (await first.store.requests.list({ progress: ['accepted', 'started', 'answering'], limit: 9 })).rows.length,
      )
      .toBe(2);

    const second = setUp(
      async function* () {
        return { content: 'late' };
      },
      { store: nextProcess(first.store) },
    );
    await second.recover();
    const interrupted = await all(second.runs.read({ owner: 'ada', requestId: 'started' }, -1));
    inOrder(interrupted);
    expect(interrupted.at(-1)).toMatchObject({ body: { code: 'E2A.INTERRUPTED' } });
    const late = await all(second.runs.read({ owner: 'ada', requestId: 'waiting' }, -1));
    expect(late.at(-1)).toMatchObject({ body: { result: { content: 'late' } } });
    await second.table.recover();
    expect(await all(second.runs.read({ owner: 'ada', requestId: 'started' }, -1))).toHaveLength(interrupted.length);
  });
});

test('requests that still wait when a stop times out are answered after the next start', async () => {
  const called: unknown[] = [];
  const agent: ModuleAgentFunction = async function* ({ params }) {
    called.push(params['content']);
    if (params['content'] === 'forever') await new Promise(() => {});
    return {};
  };
  const { runs, store, table, open } = setUp(agent, { maxParallel: 1 });
  const running = all(open(ask('running', 'forever')));
  const waiting = all(open(ask('waiting'))).catch(failureOf);
  await expect.poll(() => table.load.request.waiting).toBe(1);
  await runs.table.drain(0);
  expect((await running).at(-1)).toMatchObject({ body: { code: 'E2A.INTERRUPTED' } });
  expect(await waiting).toMatchObject({ code: 'busy', retryable: true, details: { retry_after: 5 } });
  expect(await store.requests.find({ owner: 'ada', requestId: 'waiting' })).toMatchObject({ state: 'accepted' });
  expect(called).toEqual(['forever']);

  const next = setUp(agent, { store: nextProcess(store) });
  await next.recover();
  const frames = await all(next.runs.read({ owner: 'ada', requestId: 'waiting' }, -1));
  inOrder(frames);
  expect(frames.at(-1)).toMatchObject({ status: 'succeeded' });
});

test('a secret in the envelope is not in the store', async () => {
  const { open, store } = setUp(async function* () {
    return {};
  });
  const auth = {
    method_id: null,
    bearer_token: 'canary-1',
    api_key_ref: null,
    credential_ref: null,
    extra_headers: { 'x-key': 'canary-2' },
    _meta: {},
  };
  await all(open({ ...ask('r1'), auth }));
  const row = await store.requests.find({ owner: 'ada', requestId: 'r1' });
  expect(row?.envelope).not.toContain('canary');
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function* twoWords() {
  yield 'one';
  yield 'two';
  return {};
}
describe('an idempotent agent', () => {
  /** A store that notes its writes, and records requests only after `record`. */
  function slowStore() {
    const store = memoryStore();
    const written: string[] = [];
    const gate = withResolvers();
    const { accept, acceptAnswered, append } = store.requests;
    store.requests.accept = async (row, beside) => {
      written.push('accept');
      await gate.promise;
      return accept(row, beside);
    };
    store.requests.acceptAnswered = async (row, frames) => {
      written.push(`accept with ${frames.length}`);
      await gate.promise;
      return acceptAnswered(row, frames);
    };
    store.requests.append = async (key, frames) => {
      written.push(`append ${frames.length}`);
      return append(key, frames);
    };
    return { store, written, record: gate.resolve };
  }

  test('is recorded together with its immediate answer, and no reader sees the answer before', async () => {
    const { store, written, record } = slowStore();
    const { open, table } = setUp(twoWords, { store, idempotent: true });
    let isRead = false;
    const frames = all(open(ask('r1'))).finally(() => {
      isRead = true;
    });
    await new Promise(setImmediate);
    expect(written).toEqual(['accept with 3']);
    expect(isRead).toBe(false);
    record();
    inOrder(await frames);
    expect(written).toEqual(['accept with 3']);
    expect((await store.requests.find({ owner: 'ada', requestId: 'r1' }))?.state).toBe('finished');
    expect(table.load.request).toEqual({ running: 0, waiting: 0 });
  });

  test('starts before its request is recorded, and its frames follow it', async () => {
    const { store, written, record } = slowStore();
    const mayEnd = withResolvers();
    const { open } = setUp(
      async function* () {
        yield 'at once';
        await mayEnd.promise;
        return {};
      },
      { store, idempotent: true },
    );
    const frames = all(open(ask('r1')));
    await new Promise(setImmediate);
    expect(written).toEqual(['accept']);
    record();
    await new Promise(setImmediate);
    mayEnd.resolve();
    inOrder(await frames);
    expect(written).toEqual(['accept', 'append 1', 'append 1']);
  });

  test('answers a repeat with what was recorded first, and another body with a conflict', async () => {
    let calls = 0;
    const { open, table, log } = setUp(
      async function* () {
        return { calls: ++calls };
      },
      { idempotent: true, maxParallel: 1 },
    );
    const first = (await all(open(ask('r1')))).map(frameText);
    expect((await all(open(ask('r1')))).map(frameText)).toEqual(first);
    await expect(all(open(ask('r1', 'something else')))).rejects.toSatisfy(
      (error) => failureOf(error)?.code === 'conflict',
    );
    await new Promise(setImmediate);
    expect(table.load.request).toEqual({ running: 0, waiting: 0 });
    expect(table.admit('request', 'agent', ada).hasSlot).toBe(true);
    expect(log.lines).toEqual([]);
  });

  test('runs once for two that ask the same at the same time', async () => {
    const { open } = setUp(
      async function* () {
        yield 'a';
        await new Promise(setImmediate);
        return {};
      },
      { idempotent: true },
    );
    const [one, other] = await Promise.all([all(open(ask('r1'))), all(open(ask('r1')))]);
    expect(one.map(frameText)).toEqual(other.map(frameText));
  });

  test('gives its place back when its request cannot be recorded', async () => {
    const store = memoryStore();
    store.requests.accept = store.requests.acceptAnswered = () =>
      Promise.reject(new StoreError('store_unavailable', 'The disk is full.'));
    const { open, table } = setUp(twoWords, { store, idempotent: true, maxParallel: 1 });
    await expect(all(open(ask('r1')))).rejects.toThrow('The disk is full.');
    await new Promise(setImmediate);
    expect(table.load.request).toEqual({ running: 0, waiting: 0 });
    expect(table.admit('request', 'agent', ada).hasSlot).toBe(true);
  });
});

describe('while the store refuses', () => {
  /** A store that refuses appends while `refuses` is set. */
  function refusingStore(why: Error) {
    const store = memoryStore();
    const append = store.requests.append;
    const state = { refuses: true, tries: 0 };
    store.requests.append = (key, frames) => {
      state.tries++;
      return state.refuses ? Promise.reject(why) : append(key, frames);
    };
    return { store, state };
  }
  const full = new StoreError('store_unavailable', 'The disk is full.');
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test('an answer waits for it, and comes whole when there is room again', async () => {
    const { store, state } = refusingStore(full);
    const { open, clock } = setUp(twoWords, { store });
    const read = all(open(ask('r1')));
    for (let round = 0; round < 8; round++) {
      await settled();
      clock.pass(5_000);
    }
    await settled();
    expect(state.tries).toBe(9);
    state.refuses = false;
    clock.pass(5_000);
    const frames = await read;
    inOrder(frames);
    expect(frames.map(({ response_kind }) => response_kind)).toEqual(['e2a.chunk', 'e2a.chunk', 'e2a.complete']);
  });

  test('a request that is cancelled in the meantime still ends once', async () => {
    const { store, state } = refusingStore(full);
    const { open, runs, clock } = setUp(
      async function* (_, { signal }) {
        yield 'one';
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return {};
      },
      { store },
    );
    const read = all(open(ask('r1')));
    await settled();
    runs.cancel({ owner: 'ada', requestId: 'r1' });
    await settled();
    state.refuses = false;
    clock.pass(5_000);
    const frames = await read;
    inOrder(frames);
    expect(frames.at(-1)?.body['code']).toBe('E2A.CANCELLED');
  });

  test('stopping does not wait for it: the next start ends the request', async () => {
    const { store, state } = refusingStore(full);
    const { open, table } = setUp(twoWords, { store });
    const read = all(open(ask('r1')));
    read.catch(() => {});
    await settled();
    await table.drain(0);
    await expect(read).rejects.toBe(full);

    state.refuses = false;
    const next = setUp(twoWords, { store: nextProcess(store) });
    await next.recover();
    const frames = await all(next.runs.read({ owner: 'ada', requestId: 'r1' }, -1));
    inOrder(frames);
    expect(frames.at(-1)?.body['code']).toBe('E2A.INTERRUPTED');
  });

  test('a permanent refusal is not retried', async () => {
    const { store, state } = refusingStore(new Error('a frame too many'));
    const { open } = setUp(twoWords, { store });
    await expect(all(open(ask('r1')))).rejects.toThrow('a frame too many');
    expect(state.tries).toBe(1);
  });
});

test('a request of another node that cannot be continued is logged, and keeps none after it from being answered', async () => {
  const { runs, log, handler } = setUp(async function* () {});
  const fails = () => {
    throw new Error('a bug');
  };
  runs.recoverable(fails, handler);
  const row = requestRow({ requestId: 'r1', agentId: 'agent' });
  await runs.adopt({ row, held: { id: 1, epoch: 2 } });
  expect(log.lines).toContainEqual(expect.objectContaining({ message: 'a request could not be continued' }));
});
