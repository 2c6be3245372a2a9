import { Engine, JsonReader, moduleAgent } from '@dragoman/core';
import { failure } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore } from '../../../core/test-support/memory-store.ts';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { TestIds } from '../../../core/test-support/test-ids.ts';
import { completeConfig } from '../config/complete-config.ts';
import type { Connection } from '../http/route.ts';
import { e2aSocketRoute } from './e2a-socket.ts';

const { limits } = completeConfig({});

/** A connection whose peer requests and reads only on command. */
async function connected({ answerLength = 100_000, letter = 'x', held = Promise.resolve() } = {}) {
  const [clock, ids, log, store] = [new TestClock(), new TestIds(), new SilentLog(), memoryStore()];
  const engine = new Engine({ store, clock, ids, log, defaultAgent: 'agent' });
  await engine.callers.put({ agent_id: 'ada', permissions: { agents: ['*'] } });
  engine.addAgent(
    moduleAgent('agent', async function* () {
      yield 'first';
      await held;
      return { text: letter.repeat(answerLength) };
    }),
  );
  const unread: { text: string; taken: () => void }[] = [];
  const received: { request_id: string; sequence: number; is_final: boolean; body?: { code?: string } }[] = [];
  let isReading = false;
  let reserved = 0;
  let most = 0;
  let ask: (text: string) => void = () => {};
  const messages = (async function* () {
    for (;;) yield await new Promise<string>((resolve) => (ask = resolve));
  })();
  const connection: Connection = {
    path: '/e2a/ws',
    params: {},
    query: new URLSearchParams(),
    headers: {},
    subprotocol: undefined,
    principal: engine.callers.named('ada'),
    address: '127.0.0.1',
    messages,
    signal: new AbortController().signal,
    get bufferedBytes() {
      return unread.reduce((sum, { text }) => sum + text.length, 0);
    },
    send: (text) => {
      const sent = new Promise<void>((taken) => unread.push({ text, taken }));
      most = Math.max(most, connection.bufferedBytes);
      if (isReading) take();
      return sent;
    },
    welcome: () => {},
    reserve: () => (reserved++ < 1_000 ? { release: () => reserved-- } : TOO_MANY),
    close: () => {},
  };
  const take = () => {
    for (const { text, taken } of unread.splice(0)) {
      received.push(JSON.parse(text));
      taken();
    }
  };
  void e2aSocketRoute({ engine, store, clock, ids, log, limits, reader: new JsonReader() }).open(connection);
  return {
    clock,
    received,
    most: () => most,
    ask: async (envelope: object) => {
      await settled();
      ask(JSON.stringify(envelope));
      await settled();
    },
    read: async () => {
      isReading = true;
      take();
      await settled();
    },
    leave: () => {
      isReading = false;
    },
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

test('a peer that resumes a hundred answers and reads none has at most a buffer of them in memory', async () => {
  const { received, most, ask, read, leave } = await connected();
  await read();
  await ask({ request_id: 'r1', method: 'chat.send', is_stream: true });
  leave();
  for (let n = 0; n < 100; n++) {
    await ask({ request_id: `again${n}`, method: 'chat.resume', params: { request_id: 'r1', after: 0 } });
  }
  expect(most()).toBeLessThanOrEqual(1024 * 1024);
  // A peer that reads late misses nothing.
  received.length = 0;
  await read();
  for (let n = 0; n < 100; n++) await settled();
  expect(received.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 100 }, () => 1));
});

test('more answers than its caller may have open are refused, and may be resumed later', async () => {
  const { received, ask, read, leave } = await connected();
  await read();
  await ask({ request_id: 'r1', method: 'chat.send', is_stream: true });
  leave();
  for (let n = 0; n <= 1000; n++) {
    await ask({ request_id: `again${n}`, method: 'chat.resume', params: { request_id: 'r1', after: -1 } });
  }
  await read();
  for (let n = 0; n < 1000; n++) await settled();
  const refused = received.filter(({ body }) => body?.code === 'E2A.RATE_LIMITED');
  expect(refused).toMatchObject([{ request_id: 'again1000', is_final: true, body: { details: { retry_after: 1 } } }]);
  expect(received.filter(({ request_id, is_final }) => request_id === 'r1' && is_final)).toHaveLength(1 + 1000);
});

test.each(['x', '€'])('a frame above the size limit of a message is refused as too large, in %s', async (letter) => {
  const fits = Math.floor((6 * 1024 * 1024) / Buffer.byteLength(letter));
  const { received, ask, read } = await connected({ answerLength: fits, letter });
  await read();
  await ask({ request_id: 'r1', method: 'chat.send', is_stream: true });
  for (let n = 0; n < 20; n++) await settled();
  expect(received.at(-1)).toMatchObject({
    request_id: 'r1',
    is_final: true,
    body: { code: 'response_too_large', details: { actual_bytes: expect.any(Number), max_bytes: 6 * 1024 * 1024 } },
  });
});

test('a frame of as many bytes as a message may have is given whole', async () => {
  const { received, ask, read } = await connected({ answerLength: 6 * 1024 * 1024 - 2000 });
  await read();
  await ask({ request_id: 'r1', method: 'chat.send', is_stream: true });
  for (let n = 0; n < 20; n++) await settled();
  expect(received.at(-1)).toMatchObject({ request_id: 'r1', is_final: true, body: { result: expect.any(Object) } });
});

test('a silent answer gets a heartbeat every ten seconds, outside of the order', async () => {
  const { clock, received, ask, read } = await connected({ held: new Promise(() => {}) });
  await read();
  await ask({ request_id: 'r1', method: 'chat.send', is_stream: true });
  await clock.advance(9_000);
  expect(received.filter(({ sequence }) => sequence === -1)).toEqual([]);
  for (let beat = 1; beat <= 3; beat++) {
    await clock.advance(10_000);
    await settled();
    const beats = received.filter(({ sequence }) => sequence === -1);
    expect(beats).toHaveLength(beat);
    expect(beats.at(-1)).toMatchObject({ request_id: 'r1', is_final: false });
  }
});

test('a peer with unread frames gets no heartbeat', async () => {
  const { clock, received, ask, read, leave } = await connected();
  await read();
  await ask({ request_id: 'r1', method: 'chat.send', is_stream: true });
  leave();
  for (let n = 0; n < 20; n++) {
    await ask({ request_id: `again${n}`, method: 'chat.resume', params: { request_id: 'r1', after: -1 } });
  }
  await clock.advance(30_000);
  await read();
  expect(received.filter(({ sequence }) => sequence === -1)).toEqual([]);
});

const TOO_MANY = failure('rate_limited', { retry_after: 1 });
