import type { JsonObject } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { Ending } from '../../ending/ending.ts';
import { McpConnection, type McpRequest } from './mcp-connection.ts';
import type { McpTransport } from './mcp-transport.ts';

/** A peer that sends the messages of the test. */
function open(ways: Partial<McpTransport> = {}) {
  const sent: JsonObject[] = [];
  const received: string[] = [];
  const abandoned: unknown[] = [];
  const transport: McpTransport = {
    hasSession: false,
    lastWords: '',
    start: async () => {},
    send: (message) => void sent.push(message),
    abandon: (id) => void abandoned.push(id),
    useRevision: () => {},
    endSession: async () => {},
    close: async () => {},
    ...ways,
  };
  const onNotification = (method: string) => received.push(method);
  const connection = new McpConnection({ transport, onNotification, onClose: () => received.push('closed') });
  const call = (more: Partial<McpRequest> = {}) =>
    connection.request({ method: 'tools/call', params: { name: 'echo' }, ending: new Ending(), ...more });
  return { connection, call, sent, received, abandoned, receive: (message: JsonObject) => connection.take(message) };
}

const answer = (id: string | number): JsonObject => ({ jsonrpc: '2.0', id, result: { of: id } });

test('the answer to a request is awaited until it is there, and may have its number as text', async () => {
  const { connection, call, receive } = open();
  const calls = [call(), call()];
  expect([1, '2', 3, '', 'd1', null].map((id) => connection.awaits(id))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  receive(answer('2'));
  receive(answer(1));
  expect(await Promise.all(calls)).toEqual([{ of: 1 }, { of: '2' }]);
  expect([1, 2].map((id) => connection.awaits(id))).toEqual([false, false]);
  receive(answer(1));
});

test('the server gets a progress token where somebody listens: the number of the request', async () => {
  const { call, receive, sent, received } = open();
  const progressed: JsonObject[] = [];
  const calls = [call({ onProgress: (progress) => progressed.push(progress) }), call()];
  expect(sent).toMatchObject([{ params: { name: 'echo', _meta: { progressToken: 1 } } }, { id: 2 }]);
  expect(sent[1]).toHaveProperty('params', { name: 'echo' });
  for (const progressToken of [1, 2]) {
    receive({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });
  }
  for (const id of [1, 2]) receive(answer(id));
  await Promise.all(calls);
  expect([progressed, received]).toEqual([[{ progressToken: 1, progress: 1 }], []]);
  receive({ jsonrpc: '2.0', method: 'notifications/message', params: 7 });
  expect(received).toEqual(['notifications/message']);
});

test('a request that is given up is cancelled at the server, but not the first one', async () => {
  const { call, sent, abandoned } = open();
  for (const method of ['initialize', 'tools/call']) {
    const ending = new Ending();
    const calls = call({ method, ending });
    ending.end(new Error('enough'));
    await expect(calls).rejects.toThrow('enough');
  }
  expect(abandoned).toEqual([1, 2]);
  expect(sent.slice(1)).toEqual([
    expect.objectContaining({ id: 2 }),
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2, reason: 'cancelled' } },
  ]);
  const ended = new Ending();
  ended.end(new Error('before'));
  await expect(call({ ending: ended })).rejects.toThrow('before');
  expect(sent).toHaveLength(3);
});

test('a server may ask whether we are there; sampling and roots are refused with the reason', () => {
  const { receive, sent } = open();
  for (const method of ['ping', 'sampling/createMessage', 'roots/list', 'tasks/list']) {
    receive({ jsonrpc: '2.0', id: method, method });
  }
  receive({ jsonrpc: '2.0', id: 7, method: 'ping' });
  receive({ jsonrpc: '2.0', id: null, method: 'ping' });
  const refusal = (why: string) => ({ code: -32601, message: expect.stringContaining(`Method not found: ${why}`) });
  expect(sent).toEqual([
    { jsonrpc: '2.0', id: 'ping', result: {} },
    { jsonrpc: '2.0', id: 'sampling/createMessage', error: refusal('this client has no sampling') },
    { jsonrpc: '2.0', id: 'roots/list', error: refusal('this client has no roots') },
    { jsonrpc: '2.0', id: 'tasks/list', error: refusal('this client answers ping and elicitation only') },
    { jsonrpc: '2.0', id: 7, result: {} },
  ]);
});

describe('a question to a person', () => {
  const question = { jsonrpc: '2.0', id: 'q1', method: 'elicitation/create', params: { message: 'Which name?' } };
  const answered = (name: string) => ({ onElicit: async () => ({ action: 'accept', content: { name } }) });
  const responses = (sent: readonly JsonObject[]) => sent.filter(({ method }) => method === undefined);

  test('is answered by the one call that runs', async () => {
    const { call, receive, sent } = open();
    const forms: JsonObject[] = [];
    const calls = call({
      onElicit: async (params) => {
        forms.push(params);
        return { action: 'decline' };
      },
    });
    receive(question);
    await expect.poll(() => responses(sent)).toEqual([{ jsonrpc: '2.0', id: 'q1', result: { action: 'decline' } }]);
    expect(forms).toEqual([{ message: 'Which name?' }]);
    receive(answer(1));
    await calls;
  });

  test('is answered by the call whose stream carried it, and refused where two could be meant', async () => {
    const { connection, call, sent } = open();
    const calls = [call(answered('Ada')), call(answered('Eve'))];
    connection.take(question);
    connection.take({ ...question, id: 'q2' }, 2);
    await expect
      .poll(() => responses(sent))
      .toEqual([
        { jsonrpc: '2.0', id: 'q1', error: { code: -32600, message: expect.stringContaining('several calls') } },
        { jsonrpc: '2.0', id: 'q2', result: { action: 'accept', content: { name: 'Eve' } } },
      ]);
    connection.closed();
    for (const one of calls) await expect(one).rejects.toThrow();
  });

  test('is refused where nobody can be asked', () => {
    const { call, receive, sent } = open();
    call().catch(() => {});
    receive(question);
    expect(responses(sent)).toMatchObject([
      { id: 'q1', error: { message: expect.stringContaining('No person can be asked') } },
    ]);
  });

  test.each<[string, (connection: McpConnection) => void]>([
    [
      'by the server',
      (connection) =>
        connection.take({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q1' } }),
    ],
    ['by the end of the connection', (connection) => connection.closed()],
  ])('is withdrawn %s', async (_, end) => {
    const { connection, call, sent } = open();
    let withdrawn = false;
    const onElicit = (_params: JsonObject, signal: AbortSignal) =>
      new Promise<JsonObject>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          withdrawn = true;
          reject(signal.reason);
        });
      });
    call({ onElicit }).catch(() => {});
    connection.take(question);
    end(connection);
    await expect.poll(() => withdrawn).toBe(true);
    expect(responses(sent)).toEqual([]);
  });
});

test.each<[string, JsonObject, object]>([
  ['an error', { error: { code: 5, message: 'no' } }, { code: 5, message: 'no' }],
  ['an error of another form', { error: { code: {}, message: [] } }, { code: -32600, message: '' }],
  ['neither a result nor an error', { result: 7 }, { code: -32600 }],
])('an answer that is %s rejects', async (_, fields, error) => {
  const { call, receive } = open();
  const calls = call();
  receive({ jsonrpc: '2.0', id: 1, ...fields });
  await expect(calls).rejects.toMatchObject(error);
});

test('requests end with the connection, and so do those that come later', async () => {
  const { connection, call, received } = open();
  const calls = call();
  connection.closed();
  connection.closed();
  await expect(calls).rejects.toThrow('the connection closed');
  await expect(call()).rejects.toThrow('the connection closed');
  expect(received).toEqual(['closed']);
});

test.each<[string, Partial<McpTransport>]>([
  ['at once', { send: () => fails() }],
  ['later', { send: async () => fails() }],
])('a request that cannot be sent ends then, and not when its time is up: reported %s', async (_, ways) => {
  const { connection, call } = open(ways);
  await expect(call()).rejects.toThrow('it does not read');
  expect(connection.awaits(1)).toBe(false);
});

function fails(): never {
  throw new Error('it does not read');
}
