import { failure, type Json, type JsonObject, parseJson } from '@dragoman/protocols';
import { describe, expect, test, vi } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { TestIds } from '../../../test-support/test-ids.ts';
import { NO_PERMISSIONS, type Principal } from '../../call/principal.ts';
import { Refused } from '../../refusals/refused.ts';
import type { AuditEntry } from './audit.ts';
import { Backlog, BacklogRoom } from './backlog.ts';
import type { WireSink } from './connection-parts.ts';
import type { WireCall, WirePlugin } from './plugin.ts';
import { WireHost, type WireHostOptions } from './wire-host.ts';
import { WireRefused } from './wire-refused.ts';
import type { WireRequest } from './wire-request.ts';

const ADA: Principal = { id: 'ada', kind: 'agent', permissions: NO_PERMISSIONS };
const ADMIN: Principal = { id: 'admin', kind: 'admin', permissions: NO_PERMISSIONS };

/** A host with one connection, and everything received on it. */
function connected(
  options: Partial<WireHostOptions> = {},
  entrance: Parameters<WireHost['connect']>[1] = {},
  reading: Partial<WireSink> = {},
) {
  const clock = new TestClock();
  const audited: AuditEntry[] = [];
  const host = new WireHost({
    plugins: [echo],
    clock,
    ids: new TestIds(),
    log: new SilentLog(),
    authenticate: (key) => ({ ada: ADA, admin: ADMIN })[key],
    count: () => {},
    audit: (entry) => audited.push(entry),
    ...options,
  });
  const received: JsonObject[] = [];
  const state = { isClosed: false };
  const sink = {
    send: (text: string) => void received.push(JSON.parse(text)),
    close: () => {
      state.isClosed = true;
    },
    ...reading,
  };
  const connection = host.connect(sink, entrance);
  const send = (type: string, fields: JsonObject = {}) =>
    connection?.receiveText(JSON.stringify({ a2e: '1.0', type, id: `id of ${type}`, ts: 1, ...fields }));
  return { host, clock, received, state, send, audited, connection };
}

const echo: WirePlugin = {
  name: 'echo',
  capability: 'tools',
  messages: ['tool/list/req', 'tool/call/req'],
  handle: (message) => (message.type === 'tool/list/req' ? { tools: [] } : new Promise(() => {})),
};

test('a silent connection is closed', () => {
  const { clock, state } = connected();
  clock.pass(4_999);
  expect(state.isClosed).toBe(false);
  clock.pass(1);
  expect(state.isClosed).toBe(true);
});

test('an idle agent is pinged, and disconnected when it does not answer', () => {
  const { clock, state, received, send } = connected();
  send('handshake/req', { auth_token: 'ada' });
  clock.pass(150_000);
  expect(received.at(-1)?.['type']).toBe('ping');
  send('pong', { req_id: String(received.at(-1)?.['id']) });
  clock.pass(150_000);
  expect(state.isClosed).toBe(false);
  clock.pass(150_000);
  expect(state.isClosed).toBe(true);
});

test('a connection that is lost before its handshake, or while it is closing, leaves no timer behind', () => {
  const anonymous = connected();
  anonymous.connection?.lost();
  const closing = connected();
  closing.send('handshake/req', { auth_token: 'ada' });
  closing.send('tool/call/req', { tool_name: 'x', arguments: {} });
  closing.send('shutdown', { timeout: 60 });
  closing.connection?.lost();
  expect([anonymous.clock.waiting, closing.clock.waiting]).toEqual([0, 0]);
});

test('the client that started the process may be silent without limit, and is not pinged', () => {
  const { clock, state, send, received } = connected({}, { isLocal: true });
  send('handshake/req');
  for (let count = 0; count < 10; count++) clock.pass(150_000);
  expect(state.isClosed).toBe(false);
  expect(received).toHaveLength(1);
});

test('an agent that waits for its answer is not idle', () => {
  const { clock, state, send } = connected();
  send('handshake/req', { auth_token: 'ada' });
  send('tool/call/req', { tool_name: 'x', arguments: {} });
  clock.pass(150_000);
  clock.pass(150_000);
  clock.pass(150_000);
  expect(state.isClosed).toBe(false);
});

test.each([
  ['a key', { auth_token: 'ada' }, {}, true],
  ['a wrong key', { auth_token: 'eve' }, {}, false],
  ['an admin key', { auth_token: 'admin' }, {}, false],
  ['nothing', {}, {}, false],
  ['nothing, from who started the process', {}, { isLocal: true }, true],
  ['a wrong key, from who started the process', { auth_token: 'eve' }, { isLocal: true }, false],
  ['nothing, where the transport has proven who it is', {}, { principal: ADA }, true],
  [
    "another's key, where the transport has proven who it is",
    { auth_token: 'ada' },
    { principal: { ...ADA, id: 'bob' } },
    false,
  ],
])('a handshake with %s: accepted %4$s', (_, fields, entrance, ok) => {
  const { received, send } = connected({}, entrance);
  send('handshake/req', fields);
  expect(received.at(-1)).toMatchObject({ type: 'handshake/resp', ok });
});

test('a handshake that cannot be checked is rejected with server_error, and the log has the reason', () => {
  const log = new SilentLog();
  const authenticate = () => {
    throw new Error('no directory');
  };
  const { received, send, state } = connected({ authenticate, log });
  send('handshake/req', { auth_token: 'ada' });
  expect(received).toMatchObject([{ type: 'handshake/resp', ok: false, reason: 'server_error' }]);
  expect(state.isClosed).toBe(true);
  expect(JSON.stringify(log.lines)).toContain('no directory');
});

test('every request leaves a line, and what becomes of the line changes nothing', () => {
  const { send, audited } = connected();
  send('handshake/req', { auth_token: 'ada' });
  send('tool/list/req');
  send('tool/call/req', { tool_name: 'x', arguments: {}, correlation_id: 'c' });
  send('tool/cancel/req', { target_id: 'id of tool/call/req' });
  expect(audited).toMatchObject([
    { agent_id: 'ada', type: 'tool/list/req', success: true, error_code: '', input_bytes: expect.any(Number) },
    { type: 'tool/call/req', name: 'x', correlation_id: 'c', success: false, error_code: 'runtime_error' },
  ]);
  const broken = connected({
    audit: () => {
      throw new Error('no disk');
    },
  });
  broken.send('handshake/req', { auth_token: 'ada' });
  broken.send('tool/list/req');
  expect(broken.received.at(-1)?.['type']).toBe('tool/list/resp');
});

test('a plugin of one\u2019s own takes messages of its own, and has its state back', async () => {
  const states = new Map<string, Json>([['weather', { requests: 2 }]]);
  let requests = 0;
  const weather: WirePlugin = {
    name: 'weather',
    capability: 'weather',
    messages: ['weather/get/req'],
    handle: () => ({ sky: 'blue', requests: ++requests }),
    save: () => ({ requests }),
    restore: (state) => {
      requests = Number((state as JsonObject)['requests']);
    },
  };
  const { host, send, received } = connected({
    plugins: [echo, weather],
    states: { load: (name) => states.get(name), save: (name, state) => void states.set(name, state) },
  });
  await host.start();
  send('handshake/req', { auth_token: 'ada' });
  send('weather/get/req');
  expect(received.at(-1)).toMatchObject({
    type: 'weather/get/resp',
    sky: 'blue',
    requests: 3,
    req_id: 'id of weather/get/req',
  });
  send('weather/set/req');
  expect(received.at(-1)).toMatchObject({
    type: 'error',
    code: 'unknown_type',
    detail: { suggestions: ['did you mean weather/get/req?'] },
  });
  await host.stop({ drainMs: 0 });
  expect(states.get('weather')).toEqual({ requests: 3 });
});

test('a plugin may take its time to save and to restore, and answer with what can only be waited for', async () => {
  const states = new Map<string, Json>();
  const recorded: string[] = [];
  const slow: WirePlugin = {
    name: 'weather',
    capability: 'weather',
    messages: ['weather/get/req'],
    // biome-ignore lint/suspicious/noThenProperty: as queries of some databases are
    handle: () => ({ then: (answer: (fields: JsonObject) => void) => answer({ sky: 'blue' }) }) as never,
    setup: async () => void recorded.push('setup'),
    save: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return { requests: 3 };
    },
    restore: async (state) => {
      await new Promise((resolve) => setImmediate(resolve));
      recorded.push(`restored ${JSON.stringify(state)}`);
    },
    teardown: async () => void recorded.push('teardown'),
  };
  const options = {
    plugins: [slow],
    states: {
      load: (name: string) => states.get(name),
      save: (name: string, state: Json) => void states.set(name, state),
    },
  };
  const { host, send, received } = connected(options);
  await host.start();
  send('handshake/req', { auth_token: 'ada' });
  send('weather/get/req');
  await expect.poll(() => received.at(-1)).toMatchObject({ type: 'weather/get/resp', sky: 'blue' });
  await host.stop({ drainMs: 0 });
  expect(states.get('weather')).toEqual({ requests: 3 });
  await connected(options).host.start();
  expect(recorded).toEqual(['setup', 'teardown', 'restored {"requests":3}', 'setup']);
});

test('of several plugins the one with the highest priority comes first, and none after an exclusive one', () => {
  const plugin = (name: string, more: Partial<WirePlugin>): WirePlugin => ({
    ...echo,
    name,
    handle: () => ({ tools: [{ name }] }),
    ...more,
  });
  const answerOf = (plugins: WirePlugin[]) => {
    const { send, received } = connected({ plugins });
    send('handshake/req', { auth_token: 'ada' });
    send('tool/list/req');
    return received;
  };
  expect(answerOf([plugin('low', {}), plugin('high', { priority: 1, exclusive: true })]).at(-1)).toMatchObject({
    tools: [{ name: 'high' }],
  });
  const silent = plugin('silent', { priority: 1, exclusive: true, handle: () => undefined });
  expect(answerOf([plugin('low', {}), silent]).at(-1)).toMatchObject({ type: 'error', code: 'unknown_type' });
});

test('of several plugins those after the one that answers receive nothing, even where the answer is slow', async () => {
  const requests: string[] = [];
  const answering = (name: string, fields: JsonObject | undefined): WirePlugin => ({
    ...echo,
    name,
    handle: async () => {
      requests.push(name);
      return fields;
    },
  });
  const plugins = [answering('none', undefined), answering('one', { tools: [] }), answering('two', { tools: [1] })];
  const { send, received } = connected({ plugins });
  send('handshake/req', { auth_token: 'ada' });
  send('tool/list/req');
  await new Promise((resolve) => setImmediate(resolve));
  expect(received.at(-1)).toMatchObject({ type: 'tool/list/resp', tools: [] });
  expect(requests).toEqual(['none', 'one']);
});

test('an unexpected error is reported in the log alone', () => {
  const log = new SilentLog();
  const plugin: WirePlugin = {
    ...echo,
    handle: () => {
      throw new Error('no table tools in the file of the operator');
    },
  };
  const { send, received } = connected({ plugins: [plugin], log });
  send('handshake/req', { auth_token: 'ada' });
  send('tool/list/req', { id: 'a' });
  expect(received.at(-1)).toMatchObject({ type: 'error', req_id: 'a' });
  expect(JSON.stringify(received)).not.toContain('operator');
  expect(JSON.stringify(log.lines)).toContain('operator');
});

test('two plugins of one name are refused: each would be given back what the other kept', () => {
  expect(() => connected({ plugins: [echo, { ...echo, capability: 'other' }] })).toThrow('two plugins are named echo');
});

test('the number of connections is limited', () => {
  const { host } = connected({ limits: { maxConnections: 1 } });
  expect(host.connect({ send: () => {}, close: () => {} })).toBeUndefined();
});

describe('the places of all connections', () => {
  const BOB: Principal = { ...ADA, id: 'bob' };
  /** A host with eight places, of which one caller may have two. */
  const crowded = (limits: WireHostOptions['limits'] = {}) => {
    const authenticate = (key: string) => ({ ada: ADA, bob: BOB })[key];
    const groupOf = (address: string) => address.slice(0, -1);
    const host = new WireHost({
      plugins: [echo],
      clock: new TestClock(),
      ids: new TestIds(),
      log: new SilentLog(),
      authenticate,
      count: () => {},
      groupOf,
      limits: { maxConnections: 8, ...limits },
    });
    /** The last message to a new connection, after a handshake if it has a key. */
    const enter = (address: string, key?: string, entrance?: Parameters<WireHost['connect']>[1]) => {
      const received: JsonObject[] = [];
      const connection = host.connect(
        { send: (text) => void received.push(JSON.parse(text)), close: () => {} },
        entrance,
        address,
      );
      const handshake = { a2e: '1.0', type: 'handshake/req', id: 'h', ts: 1, auth_token: key ?? '' };
      if (key !== undefined) connection?.receiveText(JSON.stringify(handshake));
      return { answer: received.at(-1), connection };
    };
    return { host, enter };
  };
  const BUSY = { type: 'error', code: 'busy', retryable: true };

  test('one caller has its share of them, from any address, and others can connect', () => {
    const { enter } = crowded();
    const first = enter('a1', 'ada');
    expect(first.answer).toMatchObject({ ok: true });
    expect(enter('b1', 'ada').answer).toMatchObject({ ok: true });
    const third = enter('c1', 'ada');
    expect(third.answer).toMatchObject({ ...BUSY, req_id: 'h' });
    expect(third.connection?.isClosed).toBe(true);
    expect(enter('d1', undefined, { principal: ADA })).toMatchObject({ answer: BUSY, connection: undefined });
    expect(enter('a1', 'bob').answer).toMatchObject({ ok: true });
    first.connection?.lost();
    expect(enter('c1', 'ada').answer).toMatchObject({ ok: true });
  });

  test('those of one address have a share together until they are known, and the others come in', () => {
    const { host, enter } = crowded();
    const first = enter('a1');
    enter('a2');
    expect(enter('a3')).toMatchObject({ answer: { ...BUSY, req_id: '' }, connection: undefined });
    expect(enter('b1', 'ada').answer).toMatchObject({ ok: true });
    first.connection?.lost();
    for (const key of ['ada', 'bob', 'bob']) expect(enter('a3', key).answer).toMatchObject({ ok: true });
    expect(host.connections).toBe(5);
  });

  test('unknown or rejected callers leave no trace', () => {
    const { host, enter } = crowded();
    for (let count = 0; count < 10; count++) enter('a1', 'eve');
    for (let count = 0; count < 10; count++) enter('a1').connection?.lost();
    expect(host.connections).toBe(0);
    expect(enter('a1', 'ada').answer).toMatchObject({ ok: true });
  });

  test('a share may be made smaller, and never larger than a quarter', () => {
    const one = crowded({ maxPerCaller: 1 });
    const many = crowded({ maxPerCaller: 1_000 });
    for (const { enter } of [one, many]) enter('a1', 'ada');
    expect(one.enter('a1', 'ada').answer).toMatchObject(BUSY);
    expect(many.enter('a1', 'ada').answer).toMatchObject({ ok: true });
    expect(many.enter('a1', 'ada').answer).toMatchObject(BUSY);
  });

  test('the client that started the process has no share', () => {
    const { enter } = crowded();
    for (let count = 0; count < 5; count++) expect(enter('', '', { isLocal: true }).answer).toMatchObject({ ok: true });
  });
});

test('a request that is refused before it starts has a log line, and other messages have none', () => {
  const { send, audited } = connected({ limits: { maxParallel: 1, maxQueued: 0 } });
  send('tool/call/req', { id: 'early', tool_name: 'x', arguments: {} });
  send('handshake/req', { auth_token: 'ada' });
  send('tool/call/req', { id: 'runs', tool_name: 'x', arguments: {} });
  send('tool/call/req', { id: 'busy', tool_name: 'x', arguments: {} });
  send('tool/call/req', { id: 'bad', tool_name: 'y'.repeat(9_000), arguments: 7 });
  send('proc/spawn/req', { id: 'none' });
  send('n'.repeat(9_000), { id: 'odd' });
  send('ping', { id: 'ping' });
  expect(audited).toMatchObject([
    { req_id: 'busy', agent_id: 'ada', type: 'tool/call/req', name: 'x', success: false, error_code: 'busy' },
    { req_id: 'bad', type: 'tool/call/req', error_code: 'schema_violation', input_bytes: expect.any(Number) },
    { req_id: 'none', type: 'proc/spawn/req', error_code: 'capability_missing' },
  ]);
  expect(audited[1]?.name).toHaveLength(256);
});

describe('a request that waited and never started leaves a line', () => {
  const call = { arguments: {}, tool_name: 'x', correlation_id: 'c' };
  const waiting = () => {
    const peer = connected({ limits: { maxParallel: 1 } });
    peer.send('handshake/req', { auth_token: 'ada' });
    peer.send('tool/call/req', { ...call, id: 'runs' });
    peer.send('tool/call/req', { ...call, id: 'waits', note: 'x'.repeat(1000) });
    const lineOf = (id: string) => peer.audited.filter(({ req_id }) => req_id === id);
    return { ...peer, lineOf };
  };
  const line = { agent_id: 'ada', type: 'tool/call/req', name: 'x', correlation_id: 'c', success: false };

  test('when it is cancelled', () => {
    const { send, lineOf, received } = waiting();
    send('tool/cancel/req', { target_id: 'waits' });
    const [recorded] = received.filter(({ type }) => type === 'error');
    const bytes = JSON.stringify(recorded).length;
    expect(lineOf('waits')).toMatchObject([{ ...line, error_code: recorded?.['code'], output_bytes: bytes }]);
    expect(lineOf('waits')[0]?.input_bytes).toBeGreaterThan(1000);
    expect(lineOf('runs')).toEqual([]);
  });

  test('when its connection is gone', () => {
    const { connection, lineOf } = waiting();
    connection?.lost();
    expect(lineOf('waits')).toMatchObject([{ ...line, error_code: 'runtime_error', output_bytes: 0 }]);
    expect(lineOf('runs')).toMatchObject([{ ...line, error_code: 'runtime_error' }]);
  });

  test('and another request of its id, which is refused, leaves its own', () => {
    const { send, connection, lineOf } = waiting();
    send('tool/list/req', { id: 'waits' });
    connection?.lost();
    expect(lineOf('waits')).toMatchObject([{ type: 'tool/list/req', error_code: 'invalid_message' }, line]);
    const [refused, waited] = lineOf('waits');
    expect(refused?.input_bytes).toBeLessThan(200);
    expect(waited?.input_bytes).toBeGreaterThan(1000);
  });

  test('when a shutdown does not wait for it; the line of a running request says the same', () => {
    const { send, clock, lineOf } = waiting();
    send('shutdown', { timeout: 1 });
    clock.pass(1_000);
    expect(lineOf('waits')).toMatchObject([{ ...line, error_code: 'timeout' }]);
    expect(lineOf('runs')).toMatchObject([{ ...line, error_code: 'timeout' }]);
  });
});

test('a waiting request that was cancelled does not affect the next request with its id', () => {
  const { send, audited } = connected({ limits: { maxParallel: 1 } });
  send('handshake/req', { auth_token: 'ada' });
  const call = { arguments: {}, tool_name: 'x' };
  send('tool/call/req', { ...call, id: 'runs' });
  send('tool/call/req', { ...call, id: 'again', note: 'x'.repeat(1000) });
  send('tool/cancel/req', { id: 'c1', target_id: 'again' });
  send('tool/cancel/req', { id: 'c2', target_id: 'runs' });
  send('tool/list/req', { id: 'again' });
  const line = audited.findLast(({ req_id }) => req_id === 'again');
  expect(line).toMatchObject({ type: 'tool/list/req', success: true });
  expect(line?.input_bytes).toBeLessThan(200);
});

test('a plugin that answers with a value outside JSON is an error, at once and later', async () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const odd: WirePlugin = {
    name: 'odd',
    capability: 'tools',
    messages: ['tool/list/req', 'tool/call/req'],
    handle: ({ type }) => (type === 'tool/list/req' ? (circle as JsonObject) : Promise.resolve(circle as JsonObject)),
  };
  const { received, send } = connected({ plugins: [odd] });
  send('handshake/req', { auth_token: 'ada' });
  send('tool/list/req', {});
  send('tool/call/req', { arguments: {} });
  await Promise.resolve();
  expect(received.slice(1)).toMatchObject([
    { type: 'error', code: 'internal_error', req_id: 'id of tool/list/req' },
    { type: 'error', code: 'internal_error', req_id: 'id of tool/call/req' },
  ]);
});

test.each([
  [{}, 8_388_608],
  [{ maxMessageBytes: 100 }, 8_388_608],
  [{ maxMessageBytes: 9_000_000 }, 9_000_000],
])('an answer over the limit is reported as too large, and the line is not sent: %j', (limits, most) => {
  let text = '';
  const large: WirePlugin = { ...echo, handle: () => ({ tools: [], text }) };
  const { received, send } = connected({ plugins: [large], limits });
  send('handshake/req', { auth_token: 'ada' });
  // Two bytes each.
  text = 'ü'.repeat(most / 2);
  send('tool/list/req');
  expect(received.at(-1)).toMatchObject({
    type: 'error',
    code: 'invalid_message',
    retryable: false,
    message: expect.stringMatching(
      `^The answer has \\d+ bytes, and the limit for a message is ${most}; request less of it`,
    ),
    detail: { failure: 'too_large', limit: most },
  });
  text = 'ü'.repeat(most / 2 - 500);
  send('tool/list/req', { id: 'smaller' });
  expect(received.at(-1)).toMatchObject({ type: 'tool/list/resp', req_id: 'smaller' });
});

test('thousands that wait behind one and are answered at once do not run inside each other', () => {
  let letGo = () => {};
  const slow: WirePlugin = {
    name: 'slow',
    capability: 'tools',
    messages: ['tool/list/req', 'tool/call/req'],
    handle: ({ type }, call) => {
      if (type === 'tool/list/req') return { tools: [] };
      letGo = () => call.ending.end(new Error('enough'));
      return new Promise(() => {});
    },
  };
  const { received, send } = connected({ plugins: [slow], limits: { maxParallel: 1, maxQueued: 20_000 } });
  send('handshake/req', { auth_token: 'ada' });
  send('tool/call/req', { id: 'first', arguments: {} });
  for (let index = 0; index < 20_000; index++) send('tool/list/req', { id: `l${index}` });
  send('tool/cancel/req', { id: 'c', target_id: 'first' });
  letGo();
  expect(received.filter(({ type }) => type === 'tool/list/resp')).toHaveLength(20_000);
});

describe('a plugin of one\u2019s own', () => {
  const weather: WirePlugin = {
    name: 'weather',
    capability: 'weather',
    messages: ['weather/get/req'],
    handle: () => ({ sky: 'blue' }),
  };

  test('is reached only by peers that the handshake granted its capability', () => {
    const { send, received } = connected({ plugins: [echo, weather] });
    send('handshake/req', { auth_token: 'ada', agent_caps: ['tools'] });
    send('weather/get/req');
    expect(received.at(-1)).toMatchObject({
      type: 'error',
      code: 'capability_missing',
      detail: { granted: ['tools'] },
      req_id: 'id of weather/get/req',
    });
  });

  test.each([
    ['a text', 'blue'],
    ['a list', ['blue']],
    ['null', null],
  ])('that answers with %s is an error, and not an unreadable line', async (_, answer) => {
    const handle = async () => answer as unknown as JsonObject;
    const { send, received } = connected({ plugins: [{ ...weather, handle }] });
    send('handshake/req', { auth_token: 'ada' });
    send('weather/get/req');
    await Promise.resolve();
    expect(received.at(-1)).toMatchObject({ type: 'error', code: 'internal_error', req_id: 'id of weather/get/req' });
  });

  test('may listen for the end of a connection many times without a warning of Node', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const ended: number[] = [];
    const handle: WirePlugin['handle'] = (_, { session }) => {
      for (let count = 0; count < 12; count++) session.closed.addEventListener('abort', () => ended.push(count));
      return {};
    };
    const { send, connection } = connected({ plugins: [{ ...weather, handle }] });
    send('handshake/req', { auth_token: 'ada' });
    send('weather/get/req');
    connection?.lost();
    expect(ended).toHaveLength(12);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test.each([
    ['set up', { setup: () => Promise.reject(new Error('no sky')) }],
    [
      'restored',
      {
        restore: () => {
          throw new Error('no sky');
        },
      },
    ],
  ])('that cannot be %s is named, and what was ready before it is taken down', async (_, broken) => {
    const ended: string[] = [];
    const before: WirePlugin = { ...echo, teardown: async () => void ended.push('echo') };
    const states = { load: () => ({}), save: () => {}, place: (name: string) => `plugins/${name}.json` };
    const { host } = connected({ plugins: [before, { ...weather, ...broken }], states });
    const wayOut = 'restore' in broken ? '; to start it without that, move plugins/weather.json away' : '';
    await expect(host.start()).rejects.toThrow(new RegExp(`^plugin weather.*no sky${wayOut}$`));
    expect(ended).toEqual(['echo']);
  });

  test.each([
    [
      'save',
      {
        save: () => {
          throw new Error('no sky');
        },
      },
    ],
    ['teardown', { teardown: () => Promise.reject(new Error('no sky')) }],
  ])('that fails in %s is reported in the log, and does not stop the end of others', async (_, broken) => {
    const ended: string[] = [];
    const before: WirePlugin = { ...echo, teardown: async () => void ended.push('echo') };
    const log = new SilentLog();
    const { host } = connected({ plugins: [before, { ...weather, ...broken }], log });
    await host.start();
    await host.stop({ drainMs: 0 });
    expect(ended).toEqual(['echo']);
    expect(JSON.stringify(log.lines)).toMatch(/weather.*no sky/);
  });
});

test('the line of a request has the bytes of its answer, and the outcome of a chain or a refusal', () => {
  const answers: Record<string, JsonObject> = {
    'chain/req': { chain_id: 'ü', success: false, error: { code: 'chain_cycle', message: 'twice' } },
    'mcp/server/register/req': { ok: false, error: 'no such server' },
  };
  const plugin = (capability: string, type: string): WirePlugin => ({
    name: capability,
    capability,
    messages: [type],
    handle: () => answers[type],
  });
  const { send, audited, received } = connected({
    plugins: [plugin('chains', 'chain/req'), plugin('mcp', 'mcp/server/register/req')],
  });
  send('handshake/req', { auth_token: 'ada' });
  send('chain/req');
  send('mcp/server/register/req', { config: { name: 'x' } });
  expect(audited).toMatchObject([
    { success: false, error_code: 'chain_cycle', output_bytes: Buffer.byteLength(JSON.stringify(received[1])) },
    { success: false },
  ]);
});

describe('a plugin for all other types', () => {
  const weather: WirePlugin = {
    name: 'weather',
    capability: 'weather',
    messages: ['weather/get/req'],
    handle: () => ({ sky: 'blue' }),
  };
  const rest = (name: string, more: Partial<WirePlugin> = {}): WirePlugin => ({
    name,
    capability: name,
    messages: ['*'],
    handle: ({ type }) => ({ by: name, requested: type }),
    ...more,
  });
  const receivedFor = (plugins: WirePlugin[], type: string, caps: string[] = [], fields: JsonObject = {}) => {
    const { send, received } = connected({ plugins });
    send('handshake/req', { auth_token: 'ada', agent_caps: caps });
    send(type, fields);
    return received.at(-1);
  };

  test('receives types that neither the protocol has nor a plugin names', () => {
    const plugins = [echo, weather, rest('rest', { priority: 9 })];
    expect(receivedFor(plugins, 'sea/tide/req')).toMatchObject({
      type: 'sea/tide/resp',
      by: 'rest',
      requested: 'sea/tide/req',
    });
    expect(receivedFor(plugins, 'weather/get/req')).toMatchObject({ type: 'weather/get/resp', sky: 'blue' });
    expect(receivedFor(plugins, 'tool/list/req')).toMatchObject({ type: 'tool/list/resp' });
    expect(receivedFor(plugins, 'env/reset/req', [], { env_name: 'x' })).toMatchObject({ code: 'capability_missing' });
  });

  test('receives a type that its named plugins leave, and not where the last of them is exclusive', () => {
    const shrug = (more: Partial<WirePlugin> = {}): WirePlugin => ({ ...weather, handle: () => undefined, ...more });
    const requests = (plugin: WirePlugin) => connectedAnswer([plugin, rest('rest')], 'weather/get/req');
    return Promise.all([
      expect(requests(shrug())).resolves.toMatchObject({ type: 'weather/get/resp', by: 'rest' }),
      expect(requests(shrug({ exclusive: true }))).resolves.toMatchObject({ type: 'error', code: 'unknown_type' }),
    ]);
  });

  test('is one of several by priority, and the last where it is exclusive', async () => {
    const shrug = (name: string, more: Partial<WirePlugin> = {}) => rest(name, { handle: () => undefined, ...more });
    const low = rest('low');
    expect(await connectedAnswer([low, rest('high', { priority: 1 })], 'sea/tide/req')).toMatchObject({ by: 'high' });
    expect(await connectedAnswer([low, shrug('high', { priority: 1 })], 'sea/tide/req')).toMatchObject({ by: 'low' });
    const alone = shrug('high', { priority: 1, exclusive: true });
    expect(await connectedAnswer([low, alone], 'sea/tide/req')).toMatchObject({ code: 'unknown_type' });
  });

  test('is reached only by peers that the handshake granted its capability', () => {
    const plugins = [echo, rest('rest')];
    const granted = { code: 'capability_missing', detail: { granted: ['tools'] } };
    expect(receivedFor(plugins, 'sea/tide/req', ['tools'])).toMatchObject(granted);
    expect(receivedFor(plugins, 'sea/tide/req', ['tools', 'rest'])).toMatchObject({ by: 'rest' });
  });

  test('leaves a line in the audit, also where it is refused', () => {
    const { send, audited } = connected({ plugins: [echo, rest('rest')], limits: { maxParallel: 1, maxQueued: 0 } });
    send('handshake/req', { auth_token: 'ada' });
    send('sea/tide/req');
    send('tool/call/req', { tool_name: 'x', arguments: {} });
    send('sea/wave/req');
    send('n'.repeat(9_000));
    expect(audited).toMatchObject([
      { type: 'sea/tide/req', success: true },
      { type: 'sea/wave/req', success: false, error_code: 'busy' },
      { type: 'n'.repeat(256), success: false, error_code: 'invalid_message' },
    ]);
  });

  /** The answer to a message, including from plugins that are called one after the other. */
  async function connectedAnswer(plugins: WirePlugin[], type: string): Promise<JsonObject | undefined> {
    const { send, received } = connected({ plugins });
    send('handshake/req', { auth_token: 'ada' });
    send(type);
    await expect.poll(() => received.length).toBe(2);
    return received.at(-1);
  }
});

describe('a running request that is no longer needed', () => {
  /** A connection with calls that a test ends, one for each use of an id. */
  function held() {
    const calls: { call: WireCall; answer: (fields: JsonObject) => void; fail: (error: Error) => void }[] = [];
    const plugin: WirePlugin = {
      ...echo,
      handle: (_, call) => new Promise((answer, fail) => calls.push({ call, answer, fail })),
    };
    const peer = connected({ plugins: [plugin] });
    peer.send('handshake/req', { auth_token: 'ada' });
    peer.received.length = 0;
    const call = (id: string) => peer.send('tool/call/req', { id, tool_name: 'x', arguments: {} });
    const receivedFor = (id: string) => peer.received.filter(({ req_id }) => req_id === id).map(({ type }) => type);
    return { ...peer, calls, call, receivedFor };
  }
  const ANSWER = { data: { success: true, tool_name: 'x', data: 1 } };

  test('is aborted by its cancellation', () => {
    const { call, calls, send } = held();
    call('a');
    call('b');
    send('tool/cancel/req', { target_id: 'a' });
    expect(calls.map(({ call: one }) => one.signal.aborted)).toEqual([true, false]);
  });

  test('is aborted when its connection is gone, which leaves no timer behind and receives nothing more', () => {
    const { call, calls, connection, received, clock } = held();
    call('a');
    connection?.lost();
    expect(calls[0]?.call.signal.aborted).toBe(true);
    expect(clock.waiting).toBe(0);
    calls[0]?.call.event({ kind: 'status', data: { message: 'late' } });
    calls[0]?.call.session.push('mcp/server/push', { params: {} });
    expect(received).toEqual([]);
  });

  test.each(['answer', 'fail'] as const)(
    'and still ends later, with %s, does not answer the next call of its id',
    async (how) => {
      const { call, calls, send, receivedFor, audited } = held();
      call('a');
      send('tool/cancel/req', { target_id: 'a' });
      call('a');
      if (how === 'answer') calls[0]?.answer(ANSWER);
      else calls[0]?.fail(new Error('stopped'));
      calls[0]?.call.event({ kind: 'status', data: { message: 'late' } });
      await new Promise((resolve) => setImmediate(resolve));
      expect(receivedFor('a')).toEqual(['error']);
      calls[1]?.answer(ANSWER);
      await new Promise((resolve) => setImmediate(resolve));
      expect(receivedFor('a')).toEqual(['error', 'tool/call/resp']);
      expect(audited.map(({ req_id, success }) => [req_id, success])).toEqual([
        ['a', false],
        ['a', true],
      ]);
    },
  );

  test('is answered once when a shutdown does not wait for it', () => {
    const { call, send, receivedFor, clock, state } = held();
    call('a');
    send('shutdown', { timeout: 2 });
    clock.pass(2_000);
    expect(receivedFor('a')).toEqual(['error']);
    expect(state.isClosed).toBe(true);
    expect(clock.waiting).toBe(0);
  });
});

test('limits are charged before a request starts; one over the limit is refused, and the next is checked again', () => {
  let requests = 0;
  const count = () => {
    requests += 1;
    if (requests === 1) throw new Refused(failure('rate_limited', { retry_after: 1 }));
  };
  let handled = 0;
  const plugin: WirePlugin = {
    ...echo,
    handle: () => {
      handled += 1;
      return { tools: [] };
    },
  };
  const { send, received } = connected({ plugins: [plugin], count });
  send('handshake/req', { auth_token: 'ada' });
  for (const id of ['a', 'b']) send('tool/list/req', { id });
  expect(received.slice(1)).toMatchObject([
    { type: 'error', req_id: 'a', code: 'rate_limited', retryable: true },
    { type: 'tool/list/resp', req_id: 'b' },
  ]);
  expect([requests, handled]).toEqual([2, 1]);
});

describe('events that a peer does not read', () => {
  const MEBIBYTE = 1024 * 1024;
  /** A connection whose peer reads at the test's command, with calls that send the test's events. */
  function slow(limits: WireHostOptions['limits'] = {}) {
    const calls = new Map<string, { call: WireCall; answer: (fields: JsonObject) => void }>();
    const plugin: WirePlugin = {
      ...echo,
      handle: ({ id = '' }, call) => new Promise((answer) => calls.set(id, { call, answer })),
    };
    const reading = { isFull: false, onRead: () => {} };
    const sink = {
      isFull: () => reading.isFull,
      whenRead: (callback: () => void) => {
        reading.onRead = callback;
      },
    };
    const peer = connected({ plugins: [plugin], limits }, {}, sink);
    peer.send('handshake/req', { auth_token: 'ada' });
    peer.received.length = 0;
    const call = (id: string) => peer.send('tool/call/req', { id, tool_name: 'x', arguments: {} });
    const emit = (id: string, message: string) => calls.get(id)?.call.event({ kind: 'status', data: { message } });
    const answer = async (id: string) => {
      calls.get(id)?.answer({ data: { success: true, tool_name: 'x', data: 1 } });
      await Promise.resolve();
    };
    const read = () => {
      reading.isFull = false;
      reading.onRead();
    };
    const receivedFor = (id: string) =>
      peer.received
        .filter(({ req_id }) => req_id === id)
        .map(({ type, seq = '', code = '' }) => `${type}${seq}${code}`);
    return { ...peer, calls, reading, call, emit, answer, read, receivedFor };
  }

  test('wait until it has read, in order and before the answer, and hold up no other call', async () => {
    const { call, emit, answer, reading, read, receivedFor } = slow();
    call('a');
    call('b');
    emit('a', 'first');
    reading.isFull = true;
    emit('a', 'second');
    emit('a', 'third');
    await answer('a');
    await answer('b');
    expect(receivedFor('a')).toEqual(['tool/event0']);
    expect(receivedFor('b')).toEqual(['tool/call/resp']);
    read();
    expect(receivedFor('a')).toEqual(['tool/event0', 'tool/event1', 'tool/event2', 'tool/call/resp']);
  });

  test('are not overtaken by an event that is sent after there is room again, before that is reported', async () => {
    const { call, emit, reading, receivedFor } = slow();
    call('a');
    reading.isFull = true;
    emit('a', 'first');
    reading.isFull = false;
    emit('a', 'second');
    expect(receivedFor('a')).toEqual(['tool/event0', 'tool/event1']);
  });

  test('end their call when there are too many, and no other', async () => {
    const { call, emit, answer, calls, reading, read, receivedFor, received } = slow();
    call('a');
    call('b');
    reading.isFull = true;
    emit('b', 'mine');
    for (let count = 0; count < 65; count++) emit('a', 'x'.repeat(MEBIBYTE));
    expect(received).toMatchObject([{ type: 'error', req_id: 'a', code: 'busy', retryable: true }]);
    expect(calls.get('a')?.call.signal.aborted).toBe(true);
    await answer('b');
    read();
    expect(receivedFor('b')).toEqual(['tool/event0', 'tool/call/resp']);
  });

  test('are not waited for by who cancels the call', async () => {
    const { call, emit, answer, send, reading, read, receivedFor } = slow();
    for (const id of ['a', 'b']) call(id);
    reading.isFull = true;
    for (const id of ['a', 'b']) emit(id, 'never received');
    await answer('b');
    for (const id of ['a', 'b']) send('tool/cancel/req', { id: `cancel ${id}`, target_id: id });
    expect(receivedFor('a')).toEqual(['errorruntime_error']);
    expect(receivedFor('b')).toEqual(['tool/call/resp']);
    read();
    expect(receivedFor('a')).toHaveLength(1);
  });

  test('and an answer that was not waited for leave the connection of who runs another call open', async () => {
    const { call, emit, answer, send, reading, clock, state } = slow();
    call('a');
    reading.isFull = true;
    emit('a', 'never received');
    await answer('a');
    send('tool/cancel/req', { target_id: 'a' });
    call('b');
    for (let count = 0; count < 4; count++) clock.pass(150_000);
    expect(state.isClosed).toBe(false);
  });

  test('and an answer behind them do not delay the end of a dead connection', async () => {
    const { call, emit, answer, reading, clock, state } = slow();
    call('a');
    reading.isFull = true;
    emit('a', 'never received');
    await answer('a');
    for (let count = 0; count < 2; count++) clock.pass(150_000);
    expect(state.isClosed).toBe(true);
  });

  /** The waiting data of one caller, in all places. */
  function waiting(room: BacklogRoom, id: string) {
    const request = { session: { principal: { ...ADA, id } } } as WireRequest;
    const backlog = new Backlog(room);
    const add = (mebibytes: number) => backlog.add(request, 'x'.repeat(mebibytes * MEBIBYTE));
    return { add, clear: () => backlog.clear(), shift: () => backlog.shift(), drop: () => backlog.drop(request) };
  }

  test('of one caller have as much room as is left for the others, on all its connections together', () => {
    const room = new BacklogRoom(16 * MEBIBYTE);
    const [one, two] = [waiting(room, 'eve'), waiting(room, 'eve')];
    expect([one.add(6), two.add(2), one.add(1), two.add(1)]).toEqual([true, true, false, false]);
    two.clear();
    expect([one.add(2), two.add(1)]).toEqual([true, false]);
    one.shift();
    expect(two.add(6)).toBe(true);
    one.drop();
    expect([two.add(3), two.add(2)]).toEqual([false, true]);
  });

  test('of however many callers leave room for one more, and never have more than there is', () => {
    const room = new BacklogRoom(16 * MEBIBYTE);
    const callers = ['eve', 'mallory', 'trudy', 'ada'].map((id) => waiting(room, id));
    const taken = callers.map(({ add }) => {
      let mebibytes = 0;
      while (add(1)) mebibytes += 1;
      return mebibytes;
    });
    expect(taken).toEqual([8, 4, 2, 1]);
    for (const { clear } of callers) clear();
    expect(callers[3]?.add(8)).toBe(true);
  });

  test('are removed one by one, however many they are, and none of them moves the others', () => {
    const backlog = new Backlog(new BacklogRoom());
    const request = { session: { principal: ADA } } as WireRequest;
    const count = 400_000;
    for (let n = 0; n < count; n++) backlog.add(request, `${n}`);
    let next = 0;
    for (let first = backlog.shift(); first !== undefined; first = backlog.shift()) {
      if (first.text !== `${next}`) throw new Error(`got ${first.text}, and not ${next}`);
      next += 1;
    }
    expect(next).toBe(count);
  });

  test('end the connection of a peer that reads nothing for the idle time, whatever it sends and runs', () => {
    const { call, emit, send, reading, read, clock, state } = slow();
    call('a');
    reading.isFull = true;
    emit('a', 'received later');
    clock.pass(150_000);
    send('error', { code: 'x' });
    read();
    reading.isFull = true;
    emit('a', 'never received');
    clock.pass(150_000);
    send('error', { code: 'x' });
    expect(state.isClosed).toBe(false);
    clock.pass(150_000);
    expect(state.isClosed).toBe(true);
  });

  test('do not end a connection without waiting messages, however long a call takes', () => {
    const { call, emit, send, reading, clock, state } = slow();
    call('a');
    reading.isFull = true;
    emit('a', 'given up');
    send('tool/cancel/req', { target_id: 'a' });
    call('b');
    for (let count = 0; count < 4; count++) {
      clock.pass(150_000);
      send('error', { code: 'x' });
    }
    expect(state.isClosed).toBe(false);
  });

  test('are left out, with a note, when they exceed the limit of a message; the call continues', async () => {
    const { call, emit, answer, received } = slow();
    call('a');
    emit('a', 'x'.repeat(9 * MEBIBYTE));
    await answer('a');
    expect(received).toMatchObject([
      {
        type: 'tool/event',
        kind: 'log',
        data: { level: 'warn', message: expect.stringMatching(/status, is left out/) },
      },
      { type: 'tool/call/resp' },
    ]);
  });
});

test('a push of a plugin that exceeds the limit of a message is not sent, and the log reports it', () => {
  const log = new SilentLog();
  const plugin: WirePlugin = {
    ...echo,
    handle: (_, { session }) => {
      for (const size of [9_000_000, 9]) session.push('mcp/server/push', { params: { text: 'x'.repeat(size) } });
      return { tools: [] };
    },
  };
  const { send, received } = connected({ plugins: [plugin], log });
  send('handshake/req', { auth_token: 'ada' });
  send('tool/list/req');
  expect(received.slice(1)).toMatchObject([{ params: { text: 'xxxxxxxxx' } }, { type: 'tool/list/resp' }]);
  expect(JSON.stringify(log.lines)).toContain('too large');
});

test('half of a character, as a cut text ends in, makes no line that strict readers refuse', async () => {
  const half = 'cut \ud83d';
  const plugin: WirePlugin = {
    ...echo,
    handle(message, call) {
      call.event({ kind: 'status', data: { message: half } });
      call.session.push('weather/changed', { half });
      if (message.type === 'tool/list/req') throw new WireRefused('tool_error', half);
      return { data: { success: true, tool_name: half, data: { [half]: half } } };
    },
  };
  const lines: string[] = [];
  const { send } = connected({ plugins: [plugin] }, {}, { send: (text) => void lines.push(text) });
  send('handshake/req', { auth_token: 'ada' });
  send('tool/call/req', { tool_name: 'x', arguments: {} });
  send('tool/list/req');
  const types = ['invoke/event', 'weather/changed', 'error'];
  const read = lines.slice(1).map((line) => parseJson(line));
  expect(read.map((line) => line.ok && (line.value as JsonObject)['type'])).toEqual([
    'tool/event',
    'weather/changed',
    'tool/call/resp',
    ...types,
  ]);
  expect(lines.slice(1).every((line) => line.includes('cut \ufffd'))).toBe(true);
});
