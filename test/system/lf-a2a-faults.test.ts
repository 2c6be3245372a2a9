import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

// What clients of Linux Foundation A2A get wrong, over both bindings.

const system = await System.start({
  config: {
    default_agent: 'worker',
    agents: { worker: moduleAgent('worker'), words: moduleAgent('words') },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent');
const { api_key: otherKey } = await system.caller('bob-agent');
const { api_key: poorKey } = await system.caller('cy-agent', { permissions: { agents: [] } });

const AGENT = '/lf-a2a/agents/worker';
interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: readonly Record<string, unknown>[];
}
interface RestError {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details: readonly Record<string, unknown>[];
}
const rpc = async (method: string, params: unknown, { by = key, headers = {}, path = AGENT } = {}) => {
  const json = { jsonrpc: '2.0', id: 7, method, params };
  const answer = await call(system.url, { method: 'POST', path, key: by, json, headers });
  const body = (await answer.json()) as { id: unknown; error: RpcError; result?: unknown };
  return { status: answer.status, ...body };
};
const rest = async (method: string, path: string, json?: unknown, by = key) => {
  const answer = await call(system.url, { method, path: `${AGENT}${path}`, key: by, json });
  return { status: answer.status, error: ((await answer.json()) as { error: RestError }).error };
};
const message = (fields: object = {}) => ({
  messageId: randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: 'work' }],
  ...fields,
});
const reasonOf = (details: readonly Record<string, unknown>[]) => {
  const info = details.find((one) => one['@type'] === 'type.googleapis.com/google.rpc.ErrorInfo');
  expect(info).toMatchObject({ domain: 'a2a-protocol.org' });
  return info?.['reason'];
};
const fieldsOf = (details: readonly Record<string, unknown>[]) =>
  (details.find((one) => 'fieldViolations' in one)?.['fieldViolations'] as { field: string }[] | undefined)?.map(
    ({ field }) => field,
  );
const ended = async () =>
  ((await rpc('SendMessage', { message: message() })).result as { task: { id: string } }).task.id;

describe('wrong types', () => {
  test.each<[string, unknown, string]>([
    ['no message', {}, 'message'],
    ['a message that is a text', { message: 'work' }, 'message'],
    ['no parts', { message: { messageId: 'm', role: 'ROLE_USER' } }, 'message.parts'],
    ['an empty list of parts', { message: message({ parts: [] }) }, 'message.parts'],
    ['a part without content', { message: message({ parts: [{}] }) }, 'message.parts[0]'],
    ['a part with two contents', { message: message({ parts: [{ text: 'a', url: 'b' }] }) }, 'message.parts[0]'],
    ['a text that is a number', { message: message({ parts: [{ text: 5 }] }) }, 'message.parts[0].text'],
    ['no role', { message: { messageId: 'm', parts: [{ text: 'a' }] } }, 'message.role'],
    ['a role of 0.3', { message: message({ role: 'user' }) }, 'message.role'],
    ['the role of an agent', { message: message({ role: 'ROLE_AGENT' }) }, 'message.role'],
    ['an empty messageId', { message: message({ messageId: '' }) }, 'message.messageId'],
    ['a contextId that is a number', { message: message({ contextId: 5 }) }, 'message.contextId'],
    [
      'a negative historyLength',
      { message: message(), configuration: { historyLength: -1 } },
      'configuration.historyLength',
    ],
    [
      'returnImmediately as text',
      { message: message(), configuration: { returnImmediately: 'yes' } },
      'configuration.returnImmediately',
    ],
  ])('%s is refused, naming the field', async (_, params, field) => {
    const { status, error } = await rpc('SendMessage', params);
    expect([status, error.code, reasonOf(error.data), fieldsOf(error.data)]).toEqual([
      200,
      -32602,
      'INVALID_MESSAGE',
      [field],
    ]);
    const other = await rest('POST', '/message:send', params);
    expect([other.status, other.error.status, fieldsOf(other.error.details)]).toEqual([
      400,
      'INVALID_ARGUMENT',
      [field],
    ]);
  });

  test.each(['GetTask', 'CancelTask', 'SubscribeToTask'])(
    '%s without an id, or with one that is not text',
    async (method) => {
      for (const params of [{}, { id: 5 }, { id: '' }, []]) {
        const { error } = await rpc(method, params);
        expect([method, params, error.code]).toEqual([method, params, -32602]);
      }
    },
  );

  test.each([
    ['[]', -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]', -32600],
    ['"text"', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600],
    ['{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', -32600],
    ['{', -32700],
    ['{"a":1,"a":2}', -32700],
  ])('%s is JSON-RPC error %i', async (text, code) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await call(system.url, { method: 'POST', path: AGENT, key, text, headers });
    const { error } = (await answer.json()) as { error: RpcError };
    expect([error.code, typeof reasonOf(error.data)]).toEqual([code, 'string']);
  });
});

describe('tasks that cannot be used', () => {
  test('every operation on an unknown task, and on one of another caller, answers the same', async () => {
    const mine = await ended();
    const answers = async (id: string, by: string) => {
      const all = [
        await rpc('GetTask', { id }, { by }),
        await rpc('CancelTask', { id }, { by }),
        await rpc('SubscribeToTask', { id }, { by }),
        await rpc('SendMessage', { message: message({ taskId: id }) }, { by }),
        await rpc('tasks/get', { id }, { by }),
        await rpc('tasks/resubscribe', { id }, { by }),
      ];
      return all.map(({ status, error }) => [status, error.code, error.message, reasonOf(error.data)]);
    };
    const theirs = await answers(mine, otherKey);
    expect(theirs).toEqual(await answers('task-unknown', otherKey));
    for (const [status, code] of theirs) expect([status, code]).toEqual([200, -32001]);
  });

  test('a task of another agent is not there', async () => {
    const { error } = await rpc('GetTask', { id: await ended() }, { path: '/lf-a2a/agents/words' });
    expect(error.code).toBe(-32001);
  });

  test('a message to a task that has ended, or to one of another context, is refused', async () => {
    const taskId = await ended();
    const { error } = await rpc('SendMessage', { message: message({ taskId }) });
    expect([error.code, reasonOf(error.data)]).toEqual([-32004, 'UNSUPPORTED_OPERATION']);
    const mixed = await rpc('SendMessage', { message: message({ taskId, contextId: 'another' }) });
    expect([mixed.error.code, fieldsOf(mixed.error.data)]).toEqual([-32602, ['message.contextId']]);
    const cancelled = await rest('POST', `/tasks/${taskId}:cancel`, {});
    expect([cancelled.status, reasonOf(cancelled.error.details)]).toEqual([400, 'TASK_NOT_CANCELABLE']);
    const followed = await rest('GET', `/tasks/${taskId}:subscribe`);
    expect([followed.status, reasonOf(followed.error.details)]).toEqual([400, 'UNSUPPORTED_OPERATION']);
  });

  test.each(['/tasks/x:unknown', '/tasks/x:cancel:now', '/message:unknown'])('POST %s is not found', async (path) => {
    const { status, error } = await rest('POST', path, {});
    expect([status, error.code, error.status]).toEqual([404, 404, 'NOT_FOUND']);
  });
});

describe('versions and callers', () => {
  test.each(['9.9', '2.0', '0.2', 'one', '1', '1.0.0.0'])('A2A-Version %s is not supported', async (version) => {
    const { error } = await rpc('GetTask', { id: 'x' }, { headers: { 'a2a-version': version } });
    expect([error.code, reasonOf(error.data)]).toEqual([-32009, 'VERSION_NOT_SUPPORTED']);
  });

  test.each(['1.0', '1.0.1', '0.3', '0.3.0', ''])('A2A-Version %j is served for every method', async (version) => {
    for (const method of ['GetTask', 'tasks/get']) {
      const { error } = await rpc(method, { id: 'x' }, { headers: { 'a2a-version': version } });
      expect([method, error.code]).toEqual([method, -32001]);
    }
  });

  test('A2A-Version counts in the query too', async () => {
    const { error } = await rpc('GetTask', { id: 'x' }, { path: `${AGENT}?A2A-Version=9.9` });
    expect(error.code).toBe(-32009);
    const { status } = await rest('GET', '/tasks/x?A2A-Version=9.9');
    expect(status).toBe(400);
  });

  test('unknown members are ignored', async () => {
    const params = { message: message({ colour: 'red', parts: [{ text: 'work', weight: 3 }] }), unknown: [1] };
    const { result } = await rpc('SendMessage', params);
    expect(result).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  test('times are UTC with milliseconds and Z', async () => {
    const { result } = await rpc('GetTask', { id: await ended() });
    const { status } = result as { status: { timestamp: string } };
    expect(status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test.each<[string, object, string]>([
    ['content that is a text', { content: 'work' }, 'message.parts'],
    ['a part without content', { content: [{}] }, 'message.parts[0]'],
    ['a file without bytes or URL', { content: [{ file: {} }] }, 'message.parts[0]'],
    ['no role', { content: [{ text: 'a' }], role: undefined }, 'message.role'],
    ['an unknown role', { content: [{ text: 'a' }], role: 'ROLE_SPECTATOR' }, 'message.role'],
  ])('a message of HTTP+JSON 0.3 with %s is refused, naming the field', async (_, fields, field) => {
    const json = { message: { messageId: randomUUID(), role: 'ROLE_USER', ...fields } };
    const answer = await call(system.url, { method: 'POST', path: `${AGENT}/v1/message:send`, key, json });
    const { code, data } = (await answer.json()) as RpcError;
    expect([answer.status, code, fieldsOf(data)]).toEqual([400, -32602, [field]]);
  });

  test('a message of HTTP+JSON 0.3 is also read as the document of 0.3 writes it', async () => {
    const old = { messageId: randomUUID(), role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'work' }] };
    const path = `${AGENT}/v1/message:send`;
    const answer = await call(system.url, { method: 'POST', path, key, json: { message: old } });
    expect(await answer.json()).toMatchObject({
      task: { history: [{ role: 'ROLE_USER', content: [{ text: 'work' }] }] },
    });
  });

  test('0.3 parameters in a 1.0 call, and the other way round, are refused and make no task', async () => {
    const old = { messageId: randomUUID(), role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'work' }] };
    expect((await rpc('SendMessage', { message: old })).error.code).toBe(-32602);
    const parts = [{ kind: 'file', file: { bytes: 5 } }];
    expect((await rpc('message/send', { message: { ...old, parts } })).error.code).toBe(-32602);
  });

  test('no key, a wrong key and a key without permission get HTTP status codes in both bindings', async () => {
    const ask = async (path: string, headers: Record<string, string>) => {
      const json = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message() }, message: message() };
      const { status, headers: fields } = await call(system.url, { method: 'POST', path, headers, json });
      return [status, fields['www-authenticate']];
    };
    for (const path of [AGENT, `${AGENT}/message:send`]) {
      expect(await ask(path, {})).toEqual([401, 'Bearer']);
      expect(await ask(path, { authorization: 'Bearer wrong' })).toEqual([401, 'Bearer']);
      expect(await ask(path, { authorization: `Bearer ${poorKey}` })).toEqual([403, undefined]);
    }
  });

  test('an agent that is not there', async () => {
    const { error } = await rpc('SendMessage', { message: message() }, { path: '/lf-a2a/agents/nobody' });
    expect(error.code).toBeLessThan(-32000);
    expect(error.message).not.toContain('at ');
  });
});

describe('much and slow', () => {
  test('a body over the limit is refused before it is read', async () => {
    const huge = { message: message({ parts: [{ raw: 'A'.repeat(2_000_000) }] }) };
    expect((await rest('POST', '/message:send', huge)).status).toBe(413);
    const answer = await call(system.url, { method: 'POST', path: AGENT, key, json: huge });
    expect(answer.status).toBe(413);
  });

  test('data that is nested too deep is refused', async () => {
    const text = `{"message":{"messageId":"deep","role":"ROLE_USER","parts":[{"data":${'['.repeat(5000)}${']'.repeat(5000)}}]}}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await call(system.url, { method: 'POST', path: `${AGENT}/message:send`, key, text, headers });
    expect([answer.status, ((await answer.json()) as { error: RestError }).error.status]).toEqual([
      400,
      'INVALID_ARGUMENT',
    ]);
  });

  test('many parts are one task', async () => {
    const parts = Array.from({ length: 1000 }, () => ({ text: 'a' }));
    const { result } = await rpc('SendMessage', { message: message({ parts }) });
    expect(result).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  test('a client that vanishes in the middle of a stream leaves its task, which others can follow', async () => {
    const sent = await call(system.url, {
      method: 'POST',
      path: `${AGENT}/message:stream`,
      key,
      json: { message: message({ parts: [{ text: 'hold' }] }) },
    });
    let taskId = '';
    for await (const { data } of sent.events()) {
      const event = JSON.parse(data);
      taskId ||= event.task?.id ?? '';
      if (event.artifactUpdate !== undefined) break;
    }
    sent.destroy();
    const follow = async () => {
      const answer = await call(system.url, { path: `${AGENT}/tasks/${taskId}:subscribe`, key });
      const seen: string[] = [];
      for await (const { data } of answer.events()) {
        const event = JSON.parse(data);
        if (seen.push(Object.keys(event)[0] ?? '') === 1) {
          expect(event.task.status.state).toBe('TASK_STATE_WORKING');
          await rpc('CancelTask', { id: taskId });
        }
      }
      return seen;
    };
    expect(await follow()).toEqual(['task', 'statusUpdate']);
  });

  test('a client that does not read delays no other, and can disconnect', async () => {
    const json = JSON.stringify({ message: message({ parts: [{ text: 'flood' }] }) });
    const socket = connect({ host: '127.0.0.1', port: system.port });
    await once(socket, 'connect');
    socket.pause();
    socket.write(
      `POST ${AGENT}/message:stream HTTP/1.1\r\nHost: ${system.host}\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
    );
    await ended();
    const flooded = async () => {
      const { result } = await rpc('ListTasks', { pageSize: 2 });
      return (result as { tasks: { status: { state: string } }[] }).tasks.map(({ status }) => status.state);
    };
    // Its own task still continues to its end.
    await expect.poll(flooded, { timeout: 15_000 }).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    socket.destroy();
    expect(await ended()).toMatch(/^task-/);
  });
});
