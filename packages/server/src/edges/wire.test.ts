import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type JsonObject } from '@dragoman/protocols';
import { decodeWire } from '@dragoman/protocols/a2e-wire';
import { afterAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { type Server, startServer } from '../server.ts';
import { TRANSPORTS, type WirePeer, websocketPeer } from './wire-peer.contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'wire-test-'));
const server = await startServer({
  config: {
    port: 0,
    store: 'memory',
    wire: { port: 0, socket: join(folder, 'wire.sock'), max_parallel: 2, max_queued: 2, max_message_bytes: 65_536 },
    tools: [fileURLToPath(new URL('./fixtures/tools.mjs', import.meta.url))],
    limits: { requests_per_minute: 1_000_000, requests_per_hour: 1_000_000, requests_per_day: 1_000_000 },
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: new SilentLog(),
});
afterAll(async () => {
  await server.stop({ drainMs: 100 });
  rmSync(folder, { recursive: true, force: true });
});

const key = await keyFor(server, 'ada-agent', ['*']);
const fewTools = await keyFor(server, 'bob-agent', ['echo', 'nothing-of-the-kind']);

async function keyFor({ engine }: Server, agentId: string, tools: string[], limits?: object): Promise<string> {
  await engine.callers.put({ agent_id: agentId, permissions: { tools }, ...(limits && { limits }) });
  return (await engine.keys.create({ agentId, role: 'agent' })).secret;
}

let number = 0;
const message = (type: string, fields: JsonObject = {}): JsonObject & { id: string } => ({
  a2e: '1.0',
  type,
  id: `m${++number}`,
  ts: 1,
  ...fields,
});
const callOf = (tool_name: string, args: JsonObject = {}, more: JsonObject = {}) =>
  message('tool/call/req', { tool_name, arguments: args, ...more });

/** Every message until the one that answers this. */
async function upTo(peer: WirePeer, id: string): Promise<JsonObject[]> {
  const received: JsonObject[] = [];
  for (;;) {
    const next = await peer.next();
    if (next === undefined)
      throw new Error(`the connection ended before ${id} was answered: ${JSON.stringify(received)}`);
    received.push(next);
    if (next['req_id'] === id && !String(next['type']).endsWith('event')) return received;
  }
}

async function ask(peer: WirePeer, request: JsonObject & { id: string }): Promise<JsonObject> {
  peer.send(request);
  return (await upTo(peer, request.id)).at(-1) ?? {};
}

describe.each(Object.entries(TRANSPORTS))('a session over %s', (name, open) => {
  /** Connected, and past the handshake. */
  async function ready(token = key, caps: string[] = []): Promise<WirePeer> {
    const peer = await open(server, token);
    const answer = await ask(peer, message('handshake/req', { auth_token: token, agent_caps: caps }));
    expect(answer).toMatchObject({ type: 'handshake/resp', ok: true });
    return peer;
  }

  test('the handshake grants the requested capabilities that exist', async () => {
    await using peer = await open(server, key);
    const answer = await ask(peer, message('handshake/req', { auth_token: key, agent_caps: ['tools', 'env'] }));
    expect(answer).toMatchObject({
      ok: true,
      reason: '',
      max_parallel: 2,
      session_id: expect.stringMatching(/^\w{32}$/),
    });
    expect(answer['accepted_caps']).toMatchObject([{ capability: 'tools', enabled: true }]);
  });

  test.each([
    ['auth_failed', { auth_token: 'dgm_wrong' }],
    ['version_mismatch', { auth_token: key, a2e: '2.0' }],
    ['no_caps', { auth_token: key, agent_caps: ['teleport'] }],
  ])('a handshake is rejected with %s, and the connection closes', async (reason, fields) => {
    const peer = await open(server, key);
    expect(await ask(peer, message('handshake/req', fields))).toMatchObject({ ok: false, reason });
    expect(await peer.next()).toBeUndefined();
  });

  test('nothing but a handshake is looked into before it', async () => {
    await using peer = await open(server, key);
    expect(await ask(peer, callOf('echo'))).toMatchObject({ type: 'error', code: 'unauthorized' });
  });

  test('tools are listed, including by query and tag; deferred ones only on request', async () => {
    await using peer = await ready();
    const names = async (fields: JsonObject = {}) => {
      const { tools } = await ask(peer, message('tool/list/req', fields));
      return (tools as JsonObject[]).map((tool) => tool['name']);
    };
    expect(await names({ filter_tags: ['plain'] })).toEqual(['echo', 'sum']);
    expect(await names({ filter_tags: ['plain', 'arithmetic'] })).toEqual(['sum']);
    expect(await names({ query: 'ECHOES' })).toEqual(['echo']);
    expect(await names()).not.toContain('hidden');
    expect(await names({ include_deferred: true })).toContain('hidden');
    expect(await names({ query: 'by a search' })).toEqual(['hidden']);
  });

  test('a call is answered, and every message is one of the protocol', async () => {
    await using peer = await ready();
    const request = callOf('sum', { of: [1, 2, 3.5] });
    const answer = await ask(peer, request);
    expect(decodeWire(answer, new Date()).ok).toBe(true);
    expect(answer).toMatchObject({
      type: 'tool/call/resp',
      data: { success: true, tool_name: 'sum', data: { sum: 6.5 }, truncated: false, error: null },
    });
  });

  test('events come in order, numbered from 0 for each request', async () => {
    await using peer = await ready();
    for (let round = 0; round < 2; round++) {
      const request = callOf('steps', { count: 4 }, { streaming: true });
      peer.send(request);
      const events = (await upTo(peer, request.id)).filter(({ type }) => type === 'tool/event');
      expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(events.map(({ kind }) => kind)).toEqual([...Array(4).fill('progress'), 'status', 'log', 'artifact']);
      expect(events.every((event) => decodeWire(event, new Date()).ok)).toBe(true);
      expect(events[5]?.['data']).toEqual({ level: 'warn', message: 'one more', left: 1 });
      const base64 = Buffer.from('grüß').toString('base64');
      expect(events[6]?.['data']).toEqual({ name: 'note', mime: 'text/plain', chunk: base64, final: true });
    }
    const quiet = await ask(peer, callOf('steps', { count: 1 }));
    expect(quiet).toMatchObject({ data: { events: [{ kind: 'progress' }, { kind: 'status' }, { kind: 'log' }, {}] } });
  });

  test('a tool that did not succeed is distinguished from one that failed', async () => {
    await using peer = await ready();
    expect(await ask(peer, callOf('refuses'))).toMatchObject({
      type: 'tool/call/resp',
      data: { success: false, error: 'no such city', error_code: 'NO_CITY', data: { near: 'Bern' } },
    });
    expect(await ask(peer, callOf('fails'))).toMatchObject({
      type: 'error',
      code: 'tool_error',
      message: 'the disk is on fire',
      retryable: true,
      capability_name: 'tools',
      detail: { tool_code: 'ON_FIRE' },
    });
    expect(await ask(peer, callOf('round'))).toMatchObject({ type: 'error', code: 'tool_error' });
    expect(await ask(peer, callOf('odd'))).toMatchObject({
      data: { data: { at: '1970-01-01T00:00:00.000Z', not: null } },
    });
  });

  test('invalid arguments are reported with their pointers', async () => {
    await using peer = await ready();
    const answer = await ask(peer, callOf('sum', { of: [1, 'two'], off: [] }));
    expect(answer).toMatchObject({ type: 'error', code: 'schema_violation', retryable: false });
    const { issues } = answer['detail'] as { issues: JsonObject[] };
    expect(issues.map(({ pointer }) => pointer).sort()).toEqual(['/arguments/of/1', '/arguments/off']);
    const evil = { of: [], name: `${'a'.repeat(40)}!` };
    expect(await ask(peer, callOf('sum', evil))).toMatchObject({ code: 'schema_violation' });
  });

  test('a message of a known type with bad fields is a schema violation, one of no known type is unknown', async () => {
    await using peer = await ready();
    const bad = await ask(peer, message('tool/call/req', { tool_name: 1, arguments: {} }));
    expect(bad).toMatchObject({
      type: 'error',
      code: 'schema_violation',
      detail: { issues: [{ pointer: '/tool_name' }] },
    });
    expect(await ask(peer, message('weather/get/req'))).toMatchObject({ code: 'unknown_type' });
    expect(await ask(peer, message('env/reset/req', { env_name: 'x' }))).toMatchObject({
      code: 'capability_missing',
      detail: { granted: expect.arrayContaining(['tools']) },
    });
  });

  test('invalid JSON is one error, and the next message is read normally', async () => {
    await using peer = await ready();
    peer.send('{"a2e":"1.0",');
    expect(await peer.next()).toMatchObject({ type: 'error', code: 'parse_error', req_id: '' });
    peer.send('{"a":1,"a":2}');
    expect(await peer.next()).toMatchObject({ type: 'error', code: 'parse_error' });
    expect(await ask(peer, message('ping'))).toMatchObject({ type: 'pong', uptime_seconds: expect.any(Number) });
  });

  test('a call past its time ends with timeout, even if the tool ignores the signal', async () => {
    await using peer = await ready();
    const answer = await ask(peer, callOf('stuck', {}, { timeout: 0.02 }));
    expect(answer).toMatchObject({ type: 'error', code: 'timeout', retryable: true });
  });

  test('a cancelled call ends, even if the tool ignores the signal', async () => {
    await using peer = await ready();
    const request = callOf('stuck');
    peer.send(request);
    const cancel = message('tool/cancel/req', { target_id: request.id });
    peer.send(cancel);
    const received = await upTo(peer, request.id);
    expect(received.map(({ type }) => type)).toEqual(['tool/cancel/resp', 'error']);
    expect(received[0]).toMatchObject({ cancelled: true, req_id: cancel.id });
    expect(received[1]).toMatchObject({ detail: { failure: 'cancelled' }, retryable: false });
  });

  test('as many run as may, as many wait as may, and the next is busy', async () => {
    await using peer = await ready();
    const running = [callOf('stuck'), callOf('stuck')];
    const waiting = [callOf('echo', { say: 1 }), callOf('echo', { say: 2 })];
    const tooMany = callOf('echo');
    for (const request of [...running, ...waiting, tooMany]) peer.send(request);
    expect(await peer.next()).toMatchObject({ type: 'error', code: 'busy', req_id: tooMany.id, retryable: true });
    for (const { id } of running) peer.send(message('tool/cancel/req', { target_id: id }));
    const received = await upTo(peer, waiting[1]?.id ?? '');
    const done = received.filter(({ type }) => type === 'tool/call/resp').map(({ req_id }) => req_id);
    expect(done).toEqual(waiting.map(({ id }) => id));
  });

  // The first of these tests is the first to use the tools, and has used only the second one before.
  test('requests start in order of arrival, including the first use of a tool', async () => {
    await using peer = await ready();
    await ask(peer, callOf('starts-second', { round: 0 }));
    const round = number;
    const last = callOf('starts-third', { round });
    for (const request of [callOf('starts-first', { round }), callOf('starts-second', { round }), last])
      peer.send(request);
    const done = (await upTo(peer, last.id)).at(-1)?.['data'];
    const started = (done as { data: string[] }).data.filter((line) => line.endsWith(` ${round}`));
    expect(started).toEqual([`starts-first ${round}`, `starts-second ${round}`, `starts-third ${round}`]);
  });

  test('a result that is too long is cut and marked', async () => {
    await using peer = await ready();
    const answer = await ask(peer, callOf('long', { size: 1_100_000 }));
    expect(answer).toMatchObject({ data: { success: true, truncated: true } });
    expect(String((answer['data'] as JsonObject)['data'])).toHaveLength(1_048_576);
  });

  test('large output of a tool is sent in pieces, and other calls continue', async () => {
    await using peer = await ready();
    const other = callOf('stuck');
    peer.send(other);
    const bytes = 30_000_000;
    const request = callOf('makes', { bytes, status: 9_000_000 }, { streaming: true });
    peer.send(request);
    const received = await upTo(peer, request.id);
    expect(received.at(-1)).toMatchObject({ type: 'tool/call/resp', data: { success: true, data: { bytes } } });
    const events = received.slice(0, -1);
    const pieces = events.slice(0, -1).map((event) => event['data'] as { chunk: string; final: boolean });
    expect(Math.max(...pieces.map(({ chunk }) => chunk.length))).toBeLessThan(400_000);
    expect(pieces.filter(({ final }) => final)).toEqual([pieces.at(-1)]);
    const made = Buffer.concat(pieces.map(({ chunk }) => Buffer.from(chunk, 'base64')));
    expect(made.equals(Buffer.alloc(bytes, 'abcdefg'))).toBe(true);
    const words = expect.stringMatching(/^An event, status, is left out: it has 9\d{6} bytes/);
    expect(events.at(-1)).toMatchObject({ kind: 'log', data: { level: 'warn', message: words } });
    const seqs = events.map(({ seq }) => Number(seq));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    peer.send(message('tool/cancel/req', { target_id: other.id }));
    expect((await upTo(peer, other.id)).at(-1)).toMatchObject({ detail: { failure: 'cancelled' } });
  });

  test('shutdown lets running calls finish, accepts nothing new, and closes', async () => {
    const peer = await ready();
    // Long enough for three requests over HTTP on a busy machine.
    const request = callOf('wait', { ms: 300 });
    peer.send(request);
    peer.send(message('shutdown', { timeout: 5 }));
    const late = callOf('echo');
    peer.send(late);
    const received = await upTo(peer, request.id);
    expect(received[0]).toMatchObject({ code: 'busy', req_id: late.id });
    expect(received.at(-1)).toMatchObject({ type: 'tool/call/resp' });
    expect(await peer.next()).toBeUndefined();
  });

  test('a call that outlasts the shutdown is answered with timeout', async () => {
    const peer = await ready();
    const request = callOf('stuck');
    peer.send(request);
    peer.send(message('shutdown', { timeout: 0.05 }));
    expect((await upTo(peer, request.id)).at(-1)).toMatchObject({ type: 'error', code: 'timeout' });
    expect(await peer.next()).toBeUndefined();
  });

  if (name !== 'stdio') {
    test('a caller sees and calls the tools it may, and learns of no other', async () => {
      await using peer = await ready(fewTools);
      const { tools } = await ask(peer, message('tool/list/req', { include_deferred: true }));
      expect((tools as JsonObject[]).map((tool) => tool['name'])).toEqual(['echo']);
      const denied = await ask(peer, callOf('sum', { of: [] }));
      const absent = await ask(peer, callOf('sun', { of: [] }));
      expect(denied).toMatchObject({ type: 'error', code: 'unauthorized' });
      expect(words(denied).replaceAll('sum', 'sun')).toBe(words(absent));
      expect(await ask(peer, callOf('nothing-of-the-kind'))).toMatchObject({ code: 'not_found' });
    });

    test('a blank token fails, and a revoked key closes its connections', async () => {
      if (name !== 'http') {
        await using anonymous = await open(server, key);
        expect(await ask(anonymous, message('handshake/req'))).toMatchObject({ ok: false, reason: 'auth_failed' });
      }
      const { row, secret } = await server.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });
      const peer = await ready(secret);
      await server.engine.keys.revoke(row.keyId);
      expect(await peer.next()).toBeUndefined();
    });

    test('a caller above its rate gets an error', async () => {
      const own = await keyFor(server, `slow-${name}`, ['*'], { requests_per_minute: name === 'http' ? 3 : 2 });
      await using peer = await ready(own);
      expect(await ask(peer, callOf('echo'))).toMatchObject({ type: 'tool/call/resp' });
      expect(await ask(peer, callOf('echo'))).toMatchObject({ type: 'tool/call/resp' });
      expect(await ask(peer, callOf('echo'))).toMatchObject({ type: 'error', code: 'rate_limited', retryable: true });
      expect(await ask(peer, message('ping'))).toMatchObject({ type: 'pong' });
    });

    test('each step of a chain counts: a chain is no way around the rate', async () => {
      const own = await keyFor(server, `chained-${name}`, ['*'], { requests_per_minute: name === 'http' ? 4 : 3 });
      await using peer = await ready(own);
      const nodes = [1, 2, 3, 4, 5].map((index) => ({
        node_id: `n${index}`,
        kind: 'tool',
        name: 'echo',
        next_node: index < 5 ? `n${index + 1}` : '',
      }));
      const answer = await ask(peer, message('chain/req', { nodes, entry_node: 'n1' }));
      expect(answer).toMatchObject({ success: false, error: { code: 'chain_node_error' } });
      expect(Object.keys(answer['outputs'] as JsonObject)).toEqual(['n1', 'n2', 'n3']);
    });
  }

  test('peers that end their side still get their answers', async () => {
    if (name === 'http' || name === 'websocket') return;
    const peer = await ready();
    const request = callOf('wait', { ms: 20 });
    peer.send(request);
    peer.end();
    expect((await upTo(peer, request.id)).at(-1)).toMatchObject({ type: 'tool/call/resp' });
    expect(await peer.next()).toBeUndefined();
  });
});

function words({ code, message, detail }: JsonObject): string {
  return JSON.stringify({ code, message, detail });
}

describe('a byte stream', () => {
  const conversation = [
    message('handshake/req', { auth_token: key }),
    message('ping'),
    'no json',
    callOf('echo', { text: 'grüße, 世界 \u2028' }),
    '',
    callOf('sum', { of: [1, 2] }),
    message('shutdown'),
  ].map((part) => (isObject(part) ? JSON.stringify(part) : part));

  /** The answers to these bytes, without the values that differ each time. */
  async function receivedFor(write: (socket: ReturnType<typeof connect>) => Promise<void>): Promise<JsonObject[]> {
    const socket = connect(Number(new URL(server.wire.url ?? '').port), '127.0.0.1');
    socket.setNoDelay(true);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await write(socket);
    await closed;
    const received: JsonObject[] = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    return received.map(({ id, ts, session_id, created_at, uptime_seconds, data, ...rest }) => ({
      ...rest,
      ...(isObject(data) && { data: { ...data, duration_ms: 0 } }),
    }));
  }

  const pause = () => new Promise((resolve) => setImmediate(resolve));

  test('gives the same answers wherever it is cut', async () => {
    const bytes = Buffer.from(`${conversation.join('\r\n')}\r\n`);
    const whole = await receivedFor(async (socket) => void socket.write(bytes));
    expect(whole.map(({ type }) => type).sort()).toEqual([
      'error',
      'handshake/resp',
      'pong',
      'tool/call/resp',
      'tool/call/resp',
    ]);
    const sorted = (received: JsonObject[]) => received.map((one) => JSON.stringify(one)).sort();
    const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    // Every offset, a few connections at a time.
    const next = cuts.values();
    const work = async () => {
      for (const cut of next) {
        const received = await receivedFor(async (socket) => {
          socket.write(bytes.subarray(0, cut));
          await pause();
          socket.write(bytes.subarray(cut));
        });
        expect(sorted(received), `cut at ${cut}`).toEqual(sorted(whole));
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
  });

  test('a line past the limit is one error, and the next line is read normally', async () => {
    const received = await receivedFor(async (socket) => {
      socket.write(`${conversation[0]}\n`);
      socket.write(`${'x'.repeat(200_000)}\n`);
      socket.write(`${JSON.stringify(message('ping'))}\n${JSON.stringify(message('shutdown'))}\n`);
    });
    expect(received.map(({ type, code = '' }) => [type, code])).toEqual([
      ['handshake/resp', ''],
      ['error', 'invalid_message'],
      ['pong', ''],
    ]);
  });

  test('an unreadable request gets an error with its id, so that its client does not wait', async () => {
    const long = JSON.stringify({ ...message('tool/call/req'), id: 'long', text: 'x'.repeat(200_000) });
    const received = await receivedFor(async (socket) => {
      socket.write(`${conversation[0]}\n${long}\n`);
      socket.write(`{"a2e":"1.0","type":"tool/call/req","id":"twice","ts":1,"arguments":{"n":1,"n":2}}\n`);
      socket.write(`${JSON.stringify(message('shutdown'))}\n`);
    });
    expect(received.slice(1)).toMatchObject([
      { type: 'error', code: 'invalid_message', req_id: 'long' },
      { type: 'error', code: 'parse_error', req_id: 'twice' },
    ]);
  });

  test('a last line without its end is never run', async () => {
    const received = await receivedFor(async (socket) => {
      socket.end(`${conversation[0]}\n${JSON.stringify(callOf('echo'))}`);
    });
    expect(received.map(({ type, code = '' }) => [type, code])).toEqual([
      ['handshake/resp', ''],
      ['error', 'parse_error'],
    ]);
  });
});

test('ten thousand calls over fifty connections are each answered to their caller, with their events in order', async () => {
  const open = TRANSPORTS['tcp'];
  if (open === undefined) throw new Error('no tcp');
  const connections = 50;
  const each = 200;
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      await using peer = await open(server, key);
      await ask(peer, message('handshake/req', { auth_token: key }));
      let sent = 0;
      let answered = 0;
      const seen = new Map<string, number>();
      const sendNext = () => {
        const id = `${connection}-${sent++}`;
        seen.set(id, 0);
        peer.send({ ...callOf('steps', { count: 2 }, { streaming: true }), id, correlation_id: id });
      };
      // Four are in flight at any time: two run and two wait.
      for (let first = 0; first < 4; first++) sendNext();
      while (answered < each) {
        const received = await peer.next();
        const id = String(received?.['req_id']);
        const expected = seen.get(id);
        if (expected === undefined) throw new Error(`an answer to ${id} arrived at connection ${connection}`);
        if (received?.['type'] === 'tool/event') {
          if (received['seq'] !== expected)
            throw new Error(`event ${received['seq']} of ${id} arrived in place of ${expected}`);
          seen.set(id, expected + 1);
        } else {
          if (received?.['type'] !== 'tool/call/resp')
            throw new Error(`${id} was answered with ${JSON.stringify(received)}`);
          if (expected !== 5) throw new Error(`${id} was answered after ${expected} events`);
          seen.delete(id);
          answered++;
          if (sent < each) sendNext();
        }
      }
    }),
  );
});

test('the unix socket is for its owner alone', () => {
  expect(statSync(join(folder, 'wire.sock')).mode & 0o777).toBe(0o600);
});

test('a call with too many unread events is ended, and the connection continues', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/a2e/ws`);
  await once(socket, 'open');
  const received: JsonObject[] = [];
  socket.on('message', (data) => received.push(JSON.parse(data.toString())));
  socket.send(JSON.stringify(message('handshake/req', { auth_token: key })));
  await expect.poll(() => received).toHaveLength(1);
  socket.pause();
  const request = callOf('pour', { pieces: 60 }, { streaming: true, timeout: 600 });
  socket.send(JSON.stringify(request));
  await using other = await websocketPeer(server);
  await ask(other, message('handshake/req', { auth_token: key }));
  const poured = async () => ((await ask(other, callOf('poured')))['data'] as JsonObject)['data'];
  await expect.poll(poured, { timeout: 20_000 }).toBe(1);
  // The error arrives when it reads again, behind the events sent before.
  socket.resume();
  await expect.poll(() => received.at(-1), { timeout: 20_000 }).toMatchObject({ req_id: request.id, code: 'busy' });
  const ping = message('ping');
  socket.send(JSON.stringify(ping));
  await expect.poll(() => received.at(-1)).toMatchObject({ type: 'pong', req_id: ping.id });
  socket.terminate();
});

test('a WebSocket takes no larger messages than the other ways in', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/a2e/ws`);
  await once(socket, 'open');
  socket.send(JSON.stringify(message('handshake/req', { auth_token: key, agent_id: 'x'.repeat(70_000) })));
  const [code] = await Promise.race([once(socket, 'close'), once(socket, 'message')]);
  socket.terminate();
  expect(code).toBe(1009);
});
