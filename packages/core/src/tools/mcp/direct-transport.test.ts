import type { JsonObject } from '@dragoman/protocols';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { Ending } from '../../ending.ts';
import { type DirectInner, type DirectRequest, DirectTransport } from './direct-transport.ts';

/** The other side says what it is told to say. */
function open() {
  const heard: JSONRPCMessage[] = [];
  const inner: DirectInner = { start: async () => {}, send: async () => {}, close: async () => {} };
  const direct = new DirectTransport(inner);
  direct.onmessage = (message) => heard.push(message);
  const isAwaited = (message: JSONRPCMessage) => inner.awaits?.(message);
  return { direct, inner, heard, isAwaited, say: (message: JSONRPCMessage) => inner.onmessage?.(message) };
}

const answer = (id: string | number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} });

test('the answer to a call is awaited until it is there', async () => {
  const { direct, isAwaited, say } = open();
  const asked = direct.ask({ method: 'tools/call', params: {}, ending: new Ending(), onProgress: undefined });
  expect([isAwaited(answer('d2')), isAwaited(answer('d1'))]).toEqual([false, true]);
  say(answer('d1'));
  expect(await asked).toEqual({});
  expect(isAwaited(answer('d1'))).toBe(false);
});

test('the server is asked for progress where somebody listens, and told of it by the name it was given', async () => {
  const { direct, inner, say, heard } = open();
  const sent: object[] = [];
  inner.sendNow = (message) => sent.push(message);
  const told: JsonObject[] = [];
  const ask = (onProgress: DirectRequest['onProgress']) =>
    direct.ask({ method: 'tools/call', params: { name: 'echo' }, ending: new Ending(), onProgress });
  const asked = [ask((progress) => told.push(progress)), ask(undefined)];
  expect(sent).toMatchObject([{ params: { name: 'echo', _meta: { progressToken: 'd1' } } }, { id: 'd2' }]);
  expect(sent[1]).toHaveProperty('params', { name: 'echo' });
  for (const progressToken of ['d1', 'd2']) {
    say({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });
  }
  for (const id of ['d1', 'd2']) say(answer(id));
  await Promise.all(asked);
  expect([told, heard]).toEqual([[{ progressToken: 'd1', progress: 1 }], []]);
});

test('as many answers are awaited as the SDK has asked questions', async () => {
  const { direct, heard, isAwaited, say } = open();
  expect(isAwaited(answer(0))).toBe(false);
  for (const id of [0, 1]) await direct.send({ jsonrpc: '2.0', id, method: 'tools/list' });
  await direct.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await direct.send(answer('asked by the server'));
  for (const id of [1, 0]) {
    expect(isAwaited(answer(id))).toBe(true);
    say(answer(id));
  }
  expect(isAwaited(answer(0))).toBe(false);
  expect(heard).toEqual([answer(1), answer(0)]);
  expect(isAwaited({ jsonrpc: '2.0', method: 'notifications/message' })).toBe(false);
});

test('an answer is awaited by its own id, which may be written as text, and until the SDK gives it up', async () => {
  const { direct, isAwaited, say } = open();
  for (const id of [0, 1, 2]) await direct.send({ jsonrpc: '2.0', id, method: 'tools/list' });
  expect([isAwaited(answer(3)), isAwaited(answer('')), isAwaited(answer('1'))]).toEqual([false, false, true]);
  say(answer('1'));
  await direct.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
  expect([0, 1, 2].map((id) => isAwaited(answer(id)))).toEqual([true, false, false]);
});

test.each([
  ['at once', { sendNow: () => fails() }],
  ['later', { send: async () => fails() }],
])('a call that cannot be sent ends then, and not when its time is up: told %s', async (_, ways) => {
  const { direct, inner, isAwaited } = open();
  Object.assign(inner, ways);
  const ending = new Ending();
  const asked = direct.ask({ method: 'tools/call', params: {}, ending, onProgress: undefined });
  await expect(asked).rejects.toThrow('it does not read');
  expect(isAwaited(answer('d1'))).toBe(false);
});

function fails(): never {
  throw new Error('it does not read');
}
