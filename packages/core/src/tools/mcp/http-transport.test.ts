import type { JsonObject } from '@dragoman/protocols';
import { expect, test, vi } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import type { InboundAnswer, OutboundRequest } from '../../gate/gate.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import { McpHttpTransport } from './http-transport.ts';

/** A server behind a gate, which gives the answers of the test. */
function open(
  answers: (request: OutboundRequest) => InboundAnswer | Promise<InboundAnswer>,
  reader = new JsonReader(),
) {
  const requests: OutboundRequest[] = [];
  const taken: JsonObject[] = [];
  const failed: string[] = [];
  const clock = new TestClock();
  const log = new SilentLog();
  const transport = new McpHttpTransport({
    server: 'peer',
    url: 'http://127.0.0.1/mcp',
    headers: { 'x-team': 'blue' },
    gate: {
      check: async () => undefined,
      request: async (request) => {
        requests.push(request);
        return answers(request);
      },
    },
    timeoutMs: 1_000,
    clock,
    log,
    reader,
  });
  void transport.start({
    awaits: () => true,
    take: (message) => taken.push(message),
    fail: (id, { message }) => failed.push(`${id}: ${message}`),
    closed: () => failed.push('closed'),
  });
  return { transport, requests, taken, failed, clock, log };
}

function answer(status: number, type: string, ...chunks: string[]): InboundAnswer {
  return {
    status,
    headers: { 'content-type': type },
    body: (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    })(),
  };
}

const accepted = () => answer(202, '');
const events = (...chunks: string[]) => answer(200, 'text/event-stream', ...chunks);
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} };
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('requests carry the session, the revision and the headers of the operator', async () => {
  const { transport, requests } = open(() => ({ ...accepted(), headers: { 'mcp-session-id': 's1' } }));
  await transport.send({ jsonrpc: '2.0', method: 'first' });
  expect([transport.hasSession, requests[0]?.headers?.['mcp-session-id']]).toEqual([true, undefined]);
  transport.useRevision('2025-11-25');
  await transport.send({ jsonrpc: '2.0', method: 'second' });
  const own = { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-11-25', 'x-team': 'blue' };
  expect(requests[1]?.headers).toMatchObject({ ...own, accept: 'application/json, text/event-stream' });
  await transport.endSession();
  await transport.endSession();
  expect(requests.slice(2)).toMatchObject([{ method: 'DELETE', headers: own }]);
  expect(transport.hasSession).toBe(false);
});

test('one answer may be several messages, and other content is skipped', async () => {
  const { transport, taken, failed } = open(() =>
    answer(
      200,
      'application/json; charset=utf-8',
      '[{"jsonrpc":"2.0","method":"x"},7,{"jsonrpc":"2.0","id":1,',
      '"result":{}}]',
    ),
  );
  await transport.send(CALL);
  await settled();
  expect(taken).toMatchObject([{ method: 'x' }, { id: 1 }]);
  expect(failed).toEqual(['1: the answer broke off']);
});

test.each<[string, () => InboundAnswer, string]>([
  ['no JSON', () => answer(200, 'application/json', '{"jsonrpc"'), '1: its answer cannot be read: '],
  ['a page for people', () => answer(200, 'text/html', '<p>'), '1: its answer cannot be read: it is text/html'],
  [
    'an event without an id',
    () => events('data: {"jsonrpc":"2.0","id":1,"result":NaN}\n\n'),
    '1: its answer cannot be read: ',
  ],
])('an answer that cannot be read ends its request: %s', async (_, given, words) => {
  const { transport, failed } = open(given);
  await transport.send(CALL);
  await settled();
  expect(failed[0]).toContain(words);
});

test('events that only have an id, or another name, are no messages', async () => {
  const { transport, taken } = open(() =>
    events(
      'id: 1\ndata:\n\nevent: ping\ndata: {"jsonrpc":"2.0","method":"x"}\n\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    ),
  );
  await transport.send(CALL);
  await settled();
  expect(taken).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  await transport.close();
});

test('a request that its caller abandoned is ended, and it alone', async () => {
  const never = new Promise<InboundAnswer>(() => {});
  const { transport, requests } = open(() => never);
  void transport.send(CALL);
  void transport.send({ ...CALL, id: 2 });
  transport.abandon(1);
  expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
  await transport.close();
  expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, true]);
});

test('a stream of events is lost after five tries that failed, and those before it was there again do not count', async () => {
  const busy = () => answer(429, '');
  const plan = [events(':\n\n'), ...Array(4).fill(undefined), events(':\n\n'), ...Array(5).fill(undefined)];
  const { transport, requests, failed, clock, log } = open(({ method }) =>
    method === 'POST' ? accepted() : (plan.shift() ?? busy()),
  );
  await transport.send(INITIALIZED);
  for (let tries = 1; tries <= 11; tries++) {
    await settled();
    expect([requests.length - 1, failed]).toEqual([tries, tries === 11 ? ['closed'] : []]);
    // After 1, 2, 4 … seconds.
    clock.pass(16_000);
  }
  const error = 'the stream of its own messages is gone';
  expect(log.lines).toMatchObject([{ message: 'an MCP server is cut off', fields: { error } }]);
});

test('a stream is opened again after one second to five minutes, whatever a server requests', async () => {
  const retries = [0, 999_999_999];
  const { transport, requests, clock } = open(({ method }) =>
    method === 'POST' ? accepted() : events(`retry: ${retries.shift()}\n\n`),
  );
  await transport.send(INITIALIZED);
  for (const [count, pause] of [
    [1, 1_000],
    [2, 300_000],
  ] as const) {
    await settled();
    clock.pass(pause - 1);
    await settled();
    expect(requests).toHaveLength(1 + count);
    clock.pass(1);
    await settled();
    expect(requests).toHaveLength(2 + count);
  }
  await transport.close();
});

test.each([405, 404, 401, 200, 204])(
  'a server that answers %i to a request for its events gets it once',
  async (status) => {
    const { transport, requests, failed, clock } = open(({ method }) =>
      method === 'POST' ? accepted() : answer(status, 'text/html', '<p>'),
    );
    await transport.send(INITIALIZED);
    await settled();
    clock.pass(600_000);
    await settled();
    expect([requests.length, failed]).toEqual([2, []]);
  },
);

test.each([
  ['one message', (text: string) => answer(200, 'application/json', text)],
  ['an event', (text: string) => events(`data: ${text}\n\n`)],
])('a long answer is read in the thread: %s', async (_, answering) => {
  const reader = new JsonReader();
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(300_000) } });
  const reading = vi.spyOn(reader, 'read');
  const { transport, taken } = open(() => answering(text), reader);
  await transport.send(CALL);
  await vi.waitFor(() => expect(taken).toMatchObject([{ id: 1, result: { text: 'x'.repeat(300_000) } }]), {
    timeout: 10_000,
  });
  expect(reading.mock.results.map(({ value }) => value)).toEqual([expect.any(Promise)]);
  await reader[Symbol.asyncDispose]();
});
