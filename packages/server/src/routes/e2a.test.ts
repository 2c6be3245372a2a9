import { Engine, JsonReader, moduleAgent } from '@dragoman/core';
import { parseJsonBytes } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore } from '../../../core/test-support/memory-store.ts';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { TestIds } from '../../../core/test-support/test-ids.ts';
import { completeConfig } from '../config/complete-config.ts';
import type { Answer, InboundRequest } from '../http/route.ts';
import { e2aRoutes } from './e2a.ts';

const { limits } = completeConfig({});

// A proxy gives up on an answer that does not begin, and keeps a stream that is silent as long as it beats.

/** A streamed request to an agent that answers only when released. */
function streamRequest({ store = memoryStore() } = {}) {
  const [clock, ids, log] = [new TestClock(), new TestIds(), new SilentLog()];
  const engine = new Engine({ store, clock, ids, log, defaultAgent: 'agent' });
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  engine.addAgent(
    moduleAgent('agent', async function* () {
      await held;
      return { content: 'at last' };
    }),
  );
  const [route] = e2aRoutes({ engine, store, clock, ids, log, limits, reader: new JsonReader() });
  const body = Buffer.from('{"request_id":"r1","method":"chat.send","is_stream":true,"params":{}}');
  const request: InboundRequest = {
    method: 'POST',
    path: '/e2a',
    params: {},
    query: new URLSearchParams(),
    headers: { accept: 'application/x-ndjson' },
    body,
    readJson: () => parseJsonBytes(body),
    principal: { id: 'ada', kind: 'admin', permissions: ALL },
    baseUrl: 'http://127.0.0.1',
    address: '127.0.0.1',
    signal: new AbortController().signal,
    welcome: () => {},
  };
  let answer: unknown;
  const answering = Promise.resolve(route?.handle(request)).then((given) => {
    answer = given;
    return given;
  });
  return { clock, letGo, answering, answer: () => answer as Answer | undefined };
}

test('a stream starts after ten seconds, even without a frame from its agent', async () => {
  const { clock, letGo, answering, answer } = streamRequest();
  await clock.advance(9_999);
  expect(answer()).toBeUndefined();
  await clock.advance(1);
  expect(answer()).toMatchObject({ status: 200 });
  letGo();
  const { stream } = (await answering) as { stream: AsyncIterable<string> };
  let text = '';
  for await (const piece of stream) text += piece;
  expect(JSON.parse(text)).toMatchObject({ sequence: 0, is_final: true, body: { result: { content: 'at last' } } });
});

test('not before the request is recorded: until then it can still be refused', async () => {
  const store = memoryStore();
  let refuse = (_: Error) => {};
  store.requests.accept = () =>
    new Promise((_, reject) => {
      refuse = reject;
    });
  const { clock, answering, answer } = streamRequest({ store });
  await clock.advance(20_000);
  expect(answer()).toBeUndefined();
  refuse(Object.assign(new Error('the disk is full'), { code: 'store_unavailable' }));
  expect(await answering).toMatchObject({ code: 'store_unavailable' });
});

const ALL = { operations: ['*'], apis: ['*'], credentials: ['*'], agents: ['*'], tools: ['*'], workflows: [] };
