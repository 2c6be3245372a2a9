import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { WireMessage } from '@dragoman/protocols/a2e-wire';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { type Server, startServer, systemClock, systemIds } from '../../../server/src/index.ts';
import { unreachable } from '../attempt.ts';
import type { WebSocketLike } from '../web-socket.ts';
import { httpWire } from './http-wire.ts';
import { streamWire } from './stream-wire.ts';
import { webSocketWire } from './web-socket-wire.ts';
import { connectWire, WireClient, type WireClientOptions } from './wire-client.ts';
import type { LinkHandlers, WireLink, WireTransport } from './wire-transport.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-wire-client-'));
const tools = fileURLToPath(new URL('../../../server/src/edges/fixtures/tools.mjs', import.meta.url));

async function startAt(port: number): Promise<Server> {
  const limits = { requests_per_minute: 1e6, requests_per_hour: 1e6, requests_per_day: 1e6 };
  const config = { port: 0, store: 'memory' as const, wire: { port }, tools: [tools], limits };
  const started = await startServer({ config, folder, clock: systemClock, ids: systemIds, log: new SilentLog() });
  await started.engine.callers.put({ agent_id: 'ada-agent', permissions: { tools: ['*'] } });
  await started.engine.keys.create({ agentId: 'ada-agent', role: 'agent', secret: KEY });
  return started;
}

const KEY = 'dgm_key_of_the_wire_tests_01';
let server = await startAt(0);
afterAll(async () => {
  await server.stop({ drainMs: 0 });
  rmSync(folder, { recursive: true, force: true });
});

const portOf = (started: Server) => Number(new URL(started.wire.url ?? '').port);
const tcp = (port = portOf(server)) =>
  streamWire(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return { input: socket, output: socket };
  });

const TRANSPORTS: Readonly<Record<string, () => WireTransport>> = {
  tcp,
  websocket: () =>
    webSocketWire({ url: server.url, WebSocket: WebSocket as unknown as new (url: string) => WebSocketLike }),
  http: () => httpWire({ url: server.url, key: KEY }),
};

describe.each(Object.entries(TRANSPORTS))('over %s', (_, transport) => {
  const open = (options: Partial<WireClientOptions> = {}) =>
    connectWire({ transport: transport(), key: KEY, ...options });

  test('a tool is called, and its events come in order', async () => {
    await using wire = await open();
    expect((await wire.call('sum', { of: [1, 2] })).data).toEqual({ sum: 3 });
    const events: WireMessage[] = [];
    const result = await wire.call('steps', { count: 3 }, { onEvent: (event) => events.push(event) });
    expect(result.data).toEqual({ count: 3 });
    expect(events.map((event) => event['seq'])).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('many calls at once each get their own answer', async () => {
    await using wire = await open();
    const all = await Promise.all(Array.from({ length: 60 }, (_, n) => wire.call('echo', { n })));
    expect(all.map(({ data }) => data)).toEqual(Array.from({ length: 60 }, (_, n) => ({ n })));
  });

  test('failures are errors with the code of the wire', async () => {
    await using wire = await open();
    await expect(wire.call('summ')).rejects.toMatchObject({ code: 'not_found', suggestions: ['did you mean sum?'] });
    await expect(wire.call('sum', { of: 1 })).rejects.toMatchObject({
      code: 'schema_violation',
      retryable: false,
      issues: [{ pointer: '/arguments/of' }],
    });
    await expect(wire.request('tool/call/req', { tool: 'sum', arguments: {} } as never)).rejects.toMatchObject({
      code: 'not_found',
      message: 'tool_name is missing: it says which tool is called.',
      suggestions: ['did you mean tool_name for tool?'],
    });
    await expect(wire.request('tool/cal/req' as never)).rejects.toMatchObject({
      code: 'unknown_type',
      suggestions: ['did you mean tool/call/req?'],
    });
    await expect(wire.call('fails')).rejects.toMatchObject({ code: 'tool_error', retryable: true });
    expect(await wire.call('refuses')).toMatchObject({ success: false, error_code: 'NO_CITY' });
  });

  test('a call is given up in time, or when its caller aborts it, and the connection stays open', async () => {
    await using wire = await open();
    await expect(wire.call('stuck', {}, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
    const enough = new AbortController();
    const stuck = wire.call('stuck', {}, { signal: enough.signal });
    enough.abort(new Error('enough'));
    await expect(stuck).rejects.toThrow('enough');
    expect(await wire.ping()).toBeGreaterThanOrEqual(0);
  });

  test('a listener that throws ends its own call and no other', async () => {
    await using wire = await open();
    const enough = new AbortController();
    const other = wire.call('stuck', {}, { signal: enough.signal });
    const onEvent = () => {
      throw new Error('not what I expected');
    };
    await expect(wire.call('steps', { count: 3 }, { onEvent })).rejects.toThrow('not what I expected');
    expect((await wire.call('sum', { of: [1] })).data).toEqual({ sum: 1 });
    enough.abort(new Error('enough'));
    await expect(other).rejects.toThrow('enough');
  });

  test('tools are listed, and other requests are sent by type', async () => {
    await using wire = await open();
    expect((await wire.tools({ query: 'numbers' })).map(({ name }) => name)).toEqual(['sum']);
    const nodes = [
      { node_id: 'a', kind: 'tool' as const, name: 'sum', input: { of: [2, 3] }, next_node: 'b' },
      { node_id: 'b', kind: 'tool' as const, name: 'echo', input_map: { got: '$.a.sum' } },
    ];
    expect(await wire.request('chain/req', { nodes, entry_node: 'a' })).toMatchObject({
      success: true,
      final_output: { got: 5 },
    });
    const { memory_id } = await wire.request('memory/init/req', {});
    const entries = [{ key: { k: 1 }, content: 'Bern is in Switzerland', tier: 'episodic' as const }];
    await wire.request('memory/store/req', { memory_id: String(memory_id), entries });
    expect(
      await wire.request('memory/retrieve/req', { memory_id: String(memory_id), query: 'switzerland' }),
    ).toMatchObject({ total: 1 });
  });

  test('a refusal of the host is reported once, with its reason', async () => {
    await expect(open({ key: 'dgm_wrong' })).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringContaining('the key is unknown or revoked'),
      suggestions: [expect.stringContaining('dragoman keys create')],
    });
    await expect(open({ capabilities: ['teleport'] })).rejects.toMatchObject({
      code: 'no_caps',
      message: 'The host rejected the handshake: no_caps, it has none of teleport.',
      suggestions: ['leave out capabilities to request all that the host has'],
    });
  });
});

test('a missing key is reported as missing, and not as wrong', async () => {
  await expect(connectWire({ transport: tcp() })).rejects.toMatchObject({
    code: 'unauthenticated',
    message: 'The host rejected the handshake: auth_failed, and no key was passed.',
    suggestions: ['pass the API key of an agent: connectWire({ transport, key })'],
  });
});

test('a connection that breaks ends what was under way, and the next call opens another', async () => {
  const port = portOf(server);
  await using wire = await connectWire({ transport: tcp(port), key: KEY, retry: { firstMs: 5, mostMs: 50 } });
  const stuck = wire.call('stuck');
  const lost = expect(stuck).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:unreachable|timeout)$/),
    retryable: true,
  });
  await wire.ping();
  await server.stop({ drainMs: 0 });
  await lost;
  server = await startAt(port);
  expect((await wire.call('sum', { of: [4] })).data).toEqual({ sum: 4 });
});

test('a call that a broken connection interrupted is not reported as never sent', async () => {
  const sockets: Socket[] = [];
  const transport = streamWire(() => {
    const socket = connect(portOf(server), '127.0.0.1');
    sockets.push(socket);
    return { input: socket, output: socket };
  });
  await using wire = await connectWire({ transport, key: KEY });
  const stuck = wire.call('stuck');
  const lost = expect(stuck).rejects.toMatchObject({
    code: 'unreachable',
    message: 'The connection was lost before tool/call/req was answered; its outcome is unknown.',
    suggestions: ['repeat the request only if running it twice does no harm'],
    details: { outcome: 'unknown' },
  });
  await wire.ping();
  for (const socket of sockets) socket.destroy();
  await lost;
});

test.each([404, 410])(
  'over http a session that is gone, %i, breaks what was under way, and the next call opens another',
  async (status) => {
    let isGone = false;
    let opened = 0;
    const http: typeof fetch = async (input, init) => {
      if (String(input).endsWith('/a2e/session')) opened += 1;
      if (!isGone || !String(input).endsWith('/a2e/send')) return fetch(input, init);
      isGone = false;
      return new Response('{"code":"not_found"}', { status, headers: { 'content-type': 'application/problem+json' } });
    };
    await using wire = await connectWire({ transport: httpWire({ url: server.url, key: KEY, fetch: http }), key: KEY });
    const stuck = wire.call('stuck');
    await wire.ping();
    isGone = true;
    const lost = { code: 'unreachable', retryable: true, details: { outcome: 'unknown' } };
    await Promise.all([
      expect(stuck).rejects.toMatchObject(lost),
      expect(wire.call('sum', { of: [1] })).rejects.toMatchObject(lost),
    ]);
    expect((await wire.call('sum', { of: [4] })).data).toEqual({ sum: 4 });
    expect(opened).toBe(2);
    // The first one was only reported as gone.
    server.wire.host.disconnect(() => true);
  },
);

test('over http a client that is done leaves no session behind', async () => {
  for (let count = 0; count < 105; count++) {
    const wire = await connectWire({ transport: httpWire({ url: server.url, key: KEY }), key: KEY });
    await wire.close();
  }
  await expect.poll(() => server.wire.host.connections).toBe(0);
});

test('an unreachable host is tried again, whatever the error, and ends in a DragomanError', async () => {
  let tries = 0;
  const refused = streamWire(async () => {
    tries += 1;
    const socket = connect(portOf(server), '127.0.0.1');
    await once(socket, 'connect');
    if (tries < 3) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    return { input: socket, output: socket };
  });
  await using wire = await connectWire({ transport: refused, key: KEY, retry: { firstMs: 5 } });
  expect(await wire.ping()).toBeGreaterThan(0);
  expect(tries).toBe(3);
  const never = streamWire(() => Promise.reject(new Error('no such place')));
  await expect(connectWire({ transport: never, retry: { giveUpAfterMs: 0 } })).rejects.toMatchObject({
    name: 'DragomanError',
    code: 'unreachable',
    message: expect.stringContaining('no such place'),
  });
});

test('an ended program is reported, and writing to it does not end the caller', async () => {
  const host = spawn(process.execPath, ['-e', ''], { stdio: ['pipe', 'pipe', 'ignore'] });
  await once(host, 'exit');
  const transport = streamWire({ input: host.stdout, output: host.stdin });
  await expect(connectWire({ transport, retry: { giveUpAfterMs: 0 } })).rejects.toMatchObject({ code: 'unreachable' });
});

test('a program that runs but no longer reads is reported, too', async () => {
  const deaf = "require('node:fs').closeSync(0); console.error('deaf'); setInterval(() => {}, 1000)";
  const host = spawn(process.execPath, ['-e', deaf], { stdio: ['pipe', 'pipe', 'pipe'] });
  await once(host.stderr, 'data');
  const transport = streamWire({ input: host.stdout, output: host.stdin });
  await expect(connectWire({ transport, retry: { giveUpAfterMs: 0 } })).rejects.toMatchObject({ code: 'unreachable' });
  host.kill();
});

test('a host that could not decide is tried again, one that refuses is not', async () => {
  const reasons = ['server_error', 'server_error'];
  let tries = 0;
  const transport: WireTransport = {
    open: async ({ onMessage }) => {
      tries += 1;
      const reason = reasons.shift() ?? 'auth_failed';
      return {
        send: (text) => {
          const answer = { a2e: '1.0', type: 'handshake/resp', id: 'h', ts: 1, ok: false, reason };
          queueMicrotask(() => onMessage(JSON.stringify({ ...answer, req_id: JSON.parse(text).id })));
        },
        close: () => {},
      };
    },
  };
  await expect(connectWire({ transport, retry: { firstMs: 1 } })).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(tries).toBe(3);
});

test('ended streams are reported', async () => {
  const socket = connect(portOf(server), '127.0.0.1');
  const wire = await connectWire({ transport: streamWire({ input: socket, output: socket }), key: KEY });
  socket.destroy();
  await once(socket, 'close');
  await expect(wire.call('echo')).rejects.toMatchObject({ code: 'unreachable' });
});

test.each([
  ['and closes', true],
  ['and leaves it at that', false],
])('a host that is too busy for a handshake reports that first, %s', async (_, closes) => {
  const error = {
    a2e: '1.0',
    type: 'error',
    id: 'e',
    ts: 1,
    req_id: '',
    code: 'busy',
    message: 'full',
    retryable: true,
  };
  const input = new PassThrough();
  input.write(`${JSON.stringify(error)}\n`);
  if (closes) input.end();
  const transport = streamWire({ input, output: new PassThrough().resume() });
  // Not in the turn of a promise: buffered input arrives before the link is known.
  const connecting = new Promise((resolve, reject) => {
    setImmediate(() => connectWire({ transport, retry: { giveUpAfterMs: 0 } }).then(resolve, reject));
  });
  await expect(connecting).rejects.toMatchObject({ code: 'busy', message: 'full', retryable: true });
});

test.each([
  ['sleeps', {}, 0],
  ['keeps its event loop turning when configured to', { busyWait: true }, 1],
])('after a request over byte streams a client %s', async (_, options, turns) => {
  const soon = vi.spyOn(globalThis, 'setImmediate').mockImplementation((() => {}) as never);
  try {
    const streams = { input: new PassThrough(), output: new PassThrough() };
    const link = await streamWire(streams, options).open({ onMessage: () => {}, onClosed: () => {} });
    soon.mockClear();
    link.send('{}');
    await Promise.resolve();
    expect(soon).toHaveBeenCalledTimes(turns);
  } finally {
    soon.mockRestore();
  }
});

test('waiting for a connection has a time limit', async () => {
  const transport: WireTransport = { open: () => new Promise(() => {}) };
  const wire = new WireClient({ transport, key: KEY });
  const enough = new AbortController();
  const given = wire.call('echo', {}, { signal: enough.signal });
  const late = wire.request('tool/list/req', {}, { timeoutMs: 20 });
  enough.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  await expect(late).rejects.toMatchObject({ code: 'timeout', retryable: true });
});

test('an invalid event is skipped, and the call continues', async () => {
  const transport: WireTransport = {
    open: async ({ onMessage }) => ({
      send: (text) => {
        const { id, type } = JSON.parse(text);
        const answerWith = (fields: object) =>
          queueMicrotask(() => onMessage(JSON.stringify({ a2e: '1.0', id: `of ${id}`, ts: 1, req_id: id, ...fields })));
        if (type === 'handshake/req') answerWith({ type: 'handshake/resp', ok: true });
        else {
          answerWith({ type: 'tool/event', kind: 'log', data: { level: 'info' } });
          answerWith({ type: 'tool/call/resp', data: { success: true, tool_name: 'it', data: 1 } });
        }
      },
      close: () => {},
    }),
  };
  const wire = await connectWire({ transport });
  expect(await wire.call('it', {}, { onEvent: () => {} })).toMatchObject({ success: true, data: 1 });
});

test('a connection whose handshake fails is let go', async () => {
  let closed = 0;
  const transport: WireTransport = {
    open: async ({ onMessage }) => ({
      send: (text) => {
        const error = {
          a2e: '1.0',
          type: 'error',
          id: 'e1',
          req_id: JSON.parse(text).id,
          code: 'internal',
          message: 'no',
        };
        queueMicrotask(() => onMessage(JSON.stringify(error)));
      },
      close: () => {
        closed += 1;
      },
    }),
  };
  await expect(connectWire({ transport, key: KEY })).rejects.toMatchObject({ code: 'internal' });
  expect(closed).toBe(1);
});

test.each(['chain/req', 'skill/call/req'] as const)('a %s that is given up is cancelled at the host', async (type) => {
  const sent: WireMessage[] = [];
  const transport: WireTransport = {
    open: async ({ onMessage }) => ({
      send: (text) => {
        const message = JSON.parse(text) as WireMessage;
        sent.push(message);
        const answer = { a2e: '1.0', type: 'handshake/resp', id: 'h', ts: 1, req_id: message.id, ok: true };
        if (message.type === 'handshake/req') queueMicrotask(() => onMessage(JSON.stringify(answer)));
      },
      close: () => {},
    }),
  };
  await using wire = await connectWire({ transport });
  const enough = new AbortController();
  const request = wire.request(type, {}, { signal: enough.signal });
  enough.abort(new Error('enough'));
  await expect(request).rejects.toThrow('enough');
  expect(sent.slice(1)).toMatchObject([{ type }, { type: 'tool/cancel/req', target_id: sent[1]?.id }]);
});

/** A host in the same process: it shakes hands, and what becomes of the rest is up to the test. */
function hostOf(
  onRequest: (type: string, handlers: LinkHandlers, answer: (type: string, fields?: object) => void) => void,
) {
  let opened = 0;
  const transport: WireTransport = {
    open: async (handlers) => {
      opened += 1;
      return {
        send: (text) => {
          const { id, type } = JSON.parse(text) as WireMessage;
          const answer = (answerType: string, fields: object = {}) =>
            handlers.onMessage(
              JSON.stringify({ a2e: '1.0', type: answerType, id: `of ${id}`, ts: 1, req_id: id, ...fields }),
            );
          queueMicrotask(() => {
            if (type === 'handshake/req') answer('handshake/resp', { ok: true });
            onRequest(type, handlers, answer);
          });
        },
        close: () => {},
      };
    },
  };
  return { transport, opened: () => opened };
}

test('a connection that ends with the answer to the handshake is not taken for one', async () => {
  let ends = 1;
  const { transport, opened } = hostOf((type, { onClosed }, answer) => {
    if (type === 'handshake/req' && ends-- > 0) onClosed(unreachable('the host', 'gone'));
    if (type === 'ping') answer('pong', { uptime_seconds: 7 });
  });
  const wire = await connectWire({ transport, retry: { firstMs: 1 } });
  expect(opened()).toBe(2);
  expect(await wire.ping()).toBe(7);
});

describe('a host that accepts a connection and never sends anything', () => {
  const sockets = new Set<Socket>();
  const mute = createServer((socket) => {
    sockets.add(socket.resume().on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  const places = async (): Promise<Record<string, WireTransport>> => {
    if (!mute.listening) await once(mute.listen(0, '127.0.0.1'), 'listening');
    const { port } = mute.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    return {
      tcp: tcp(port),
      websocket: webSocketWire({ url, WebSocket: WebSocket as unknown as new (url: string) => WebSocketLike }),
      http: httpWire({ url, key: KEY }),
    };
  };
  afterAll(() => void mute.close());

  test.each(['tcp', 'websocket', 'http'])('does not delay close, and keeps no connection: %s', async (name) => {
    const wire = new WireClient({ transport: (await places())[name] as WireTransport, key: KEY });
    const request = expect(wire.call('echo')).rejects.toMatchObject({ code: 'closed' });
    await expect.poll(() => sockets.size).toBe(1);
    await wire.close();
    await request;
    await expect.poll(() => sockets.size).toBe(0);
    await expect(wire.ping()).rejects.toMatchObject({ code: 'closed' });
  });
});

test.each(['http', 'ws', 'WS'])(
  'a WebSocket is opened by the address of the server, also written as %s:',
  async (scheme) => {
    const url = server.url.replace('http', scheme);
    const transport = webSocketWire({ url, WebSocket: WebSocket as unknown as new (url: string) => WebSocketLike });
    await using wire = await connectWire({ transport, key: KEY });
    expect((await wire.call('sum', { of: [1] })).data).toEqual({ sum: 1 });
  },
);

test('over a WebSocket a message that is too long is reported as that, and the next call is made', async () => {
  await using wire = await connectWire({ transport: TRANSPORTS['websocket']?.() as WireTransport, key: KEY });
  await expect(wire.call('echo', { text: 'x'.repeat(8 * 1024 * 1024) })).rejects.toMatchObject({
    code: 'unreachable',
    details: {
      outcome: 'unknown',
      reason: expect.stringContaining('1009 a message exceeded the size limit of the host'),
    },
  });
  expect((await wire.call('sum', { of: [1] })).data).toEqual({ sum: 1 });
});

test('a connection that opens after close is closed', async () => {
  let open = (_: WireLink) => {};
  let isUnwanted = false;
  const transport: WireTransport = {
    open: (_, signal) =>
      new Promise((resolve) => {
        open = resolve;
        signal?.addEventListener('abort', () => {
          isUnwanted = true;
        });
      }),
  };
  const wire = new WireClient({ transport });
  const request = expect(wire.call('echo')).rejects.toMatchObject({ code: 'closed' });
  await wire.close();
  await request;
  expect(isUnwanted).toBe(true);
  const closed = new Promise<void>((resolve) => open({ send: () => expect.fail('it was used'), close: resolve }));
  await closed;
});

test('a link that reports its end twice ends nothing on its successor', async () => {
  const ends: (() => void)[] = [];
  let pong = () => {};
  const { transport, opened } = hostOf((type, { onClosed }, answer) => {
    if (type === 'handshake/req') ends.push(() => onClosed(unreachable('the host', 'gone')));
    if (type === 'ping') pong = () => answer('pong', { uptime_seconds: 7 });
  });
  const wire = await connectWire({ transport, retry: { firstMs: 1 } });
  ends[0]?.();
  const request = wire.ping();
  await expect.poll(opened).toBe(2);
  await expect.poll(() => ends.length).toBe(2);
  await new Promise((resolve) => setImmediate(resolve));
  ends[0]?.();
  pong();
  expect(await request).toBe(7);
  expect(opened()).toBe(2);
});

/** A link over HTTP to a host that takes each message on request. */
async function heldLink() {
  const posted: string[] = [];
  const held: (() => void)[] = [];
  const answers: Record<string, (init?: RequestInit) => Response | Promise<Response>> = {
    '/a2e/session': () => Response.json({ session_id: 's' }),
    '/a2e/stream': () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    '/a2e/send': (init) =>
      new Promise((resolve, reject) => {
        held.push(() => resolve(Response.json({ ok: true })));
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  };
  const fetch = async (url: unknown, init?: RequestInit) => {
    const { pathname } = new URL(String(url));
    if (pathname === '/a2e/send') posted.push(String(init?.body));
    return answers[pathname]?.(init) ?? Response.error();
  };
  const { open } = httpWire({ url: 'http://host.example', key: KEY, fetch: fetch as typeof globalThis.fetch });
  return { link: await open({ onMessage: () => {}, onClosed: () => {} }), posted, held };
}

test('over http a message is posted when the one before it has arrived: another could overtake it', async () => {
  const { link, posted, held } = await heldLink();
  for (const text of ['"first"', '"second"']) link.send(text);
  await expect.poll(() => held.length).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(posted).toEqual(['"first"']);
  held[0]?.();
  await expect.poll(() => posted).toEqual(['"first"', '"second"']);
  held[1]?.();
  await link.close();
});

test('a signal that many requests are given is listened to by those that wait alone', async () => {
  const { transport } = hostOf((type, _, answer) => {
    if (type === 'tool/list/req') answer('tool/list/resp', { tools: [] });
  });
  const wire = await connectWire({ transport });
  const { signal } = new AbortController();
  for (let count = 0; count < 3; count++) await wire.request('tool/list/req', {}, { signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a request of a caller that has already given up is not sent', async () => {
  const onRequest: string[] = [];
  const { transport } = hostOf((type) => onRequest.push(type));
  const wire = await connectWire({ transport });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(wire.call('echo', {}, { signal })).rejects.toThrow('enough');
  await new Promise((resolve) => setImmediate(resolve));
  expect(onRequest).toEqual(['handshake/req']);
});

test('an answer of another kind is neither a result nor a list', async () => {
  const { transport } = hostOf((type, _, answer) => {
    if (type !== 'handshake/req') answer('pong', { uptime_seconds: 7 });
  });
  const wire = await connectWire({ transport });
  const unexpected = { code: 'unexpected_answer', message: expect.stringContaining('received pong') };
  await expect(wire.call('echo')).rejects.toMatchObject(unexpected);
  await expect(wire.tools()).rejects.toMatchObject(unexpected);
  expect(await wire.ping()).toBe(7);
});

test('an error of a push listener is reported like that of any listener, and ends no call', async () => {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  try {
    const stray = once(process, 'uncaughtException');
    const { transport } = hostOf((type, { onMessage }, answer) => {
      if (type !== 'ping') return;
      onMessage(JSON.stringify({ a2e: '1.0', type: 'mcp/server/push', id: 'p', ts: 1, method: 'it' }));
      answer('pong', { uptime_seconds: 7 });
    });
    const onPush = () => {
      throw new Error('not mine');
    };
    const wire = await connectWire({ transport, onPush });
    expect(await wire.ping()).toBe(7);
    expect((await stray)[0]).toMatchObject({ message: 'not mine' });
  } finally {
    for (const listener of others) process.on('uncaughtException', listener);
  }
});

describe('by the clock', () => {
  afterEach(() => void vi.useRealTimers());

  test('a short wait ends in time, however many others begin in the meantime', async () => {
    vi.useFakeTimers();
    const { transport } = hostOf(() => {});
    const wire = await connectWire({ transport });
    const over: number[] = [];
    const start = Date.now();
    const wait = (timeoutMs: number) =>
      wire.request('ping', {}, { timeoutMs }).catch(() => void over.push(Date.now() - start));
    void wait(300);
    for (let count = 0; count < 10; count++) {
      await vi.advanceTimersByTimeAsync(200);
      void wait(900);
    }
    expect(over[0]).toBe(300);
    await vi.advanceTimersByTimeAsync(900);
    expect(over.slice(1)).toEqual(Array.from({ length: 10 }, (_, count) => (count + 1) * 200 + 900));
  });

  test('over http who closes waits two seconds for a host that does not take the last words, and no longer', async () => {
    vi.useFakeTimers();
    const { link, held } = await heldLink();
    link.send('"goodbye"');
    await vi.advanceTimersByTimeAsync(0);
    expect(held).toHaveLength(1);
    let isClosed = false;
    void Promise.resolve(link.close()).then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isClosed).toBe(true);
  });

  test('a connection that does not open is given up, and another tried', async () => {
    vi.useFakeTimers();
    const { transport } = hostOf((type, _, answer) => {
      if (type === 'ping') answer('pong', { uptime_seconds: 7 });
    });
    let tries = 0;
    const open: WireTransport['open'] = (handlers) =>
      tries++ === 0 ? new Promise(() => {}) : transport.open(handlers);
    const wire = new WireClient({ transport: { open } });
    const request = wire.request('ping', {});
    await vi.advanceTimersByTimeAsync(31_000);
    expect(await request).toMatchObject({ uptime_seconds: 7 });
    expect(tries).toBe(2);
  });

  test.each([0, Number.POSITIVE_INFINITY])('a timeout of %s ms waits as long as it takes', async (timeoutMs) => {
    vi.useFakeTimers();
    const later = (answer: () => void) => void setTimeout(answer, 3_600_000);
    const { transport } = hostOf((type, _, answer) => {
      if (type === 'ping') later(() => answer('pong', { uptime_seconds: 7 }));
      if (type !== 'tool/call/req') return;
      later(() => answer('tool/call/resp', { data: { success: true, tool_name: 'it', data: 1 } }));
    });
    const wire = await connectWire({ transport });
    const request = Promise.all([wire.call('it', {}, { timeoutMs }), wire.request('ping', {}, { timeoutMs })]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(await request).toMatchObject([{ data: 1 }, { uptime_seconds: 7 }]);
  });

  test.each([0, Number.POSITIVE_INFINITY, 2 ** 31])(
    'a timeout of %s ms waits while the connection opens',
    async (timeoutMs) => {
      vi.useFakeTimers();
      const { transport } = hostOf((type, _, answer) => {
        if (type === 'tool/call/req') answer('tool/call/resp', { data: { success: true, tool_name: 'it', data: 1 } });
      });
      const sent: string[] = [];
      const open: WireTransport['open'] = async (handlers) => {
        await new Promise((resolve) => setTimeout(resolve, 5_000));
        const link = await transport.open(handlers);
        return {
          ...link,
          send: (text) => {
            sent.push(text);
            link.send(text);
          },
        };
      };
      const wire = new WireClient({ transport: { open } });
      const request = wire.call('it', {}, { timeoutMs });
      await vi.advanceTimersByTimeAsync(6_000);
      expect(await request).toMatchObject({ data: 1 });
      // As the protocol has it: 0 is as long as any call may take.
      const seconds = timeoutMs === Number.POSITIVE_INFINITY ? 0 : timeoutMs / 1000;
      expect(JSON.parse(sent[1] ?? '')).toMatchObject({ type: 'tool/call/req', timeout: seconds });
    },
  );

  test('close ends the wait for the next try, and no further try is made', async () => {
    vi.useFakeTimers();
    let tries = 0;
    const transport: WireTransport = {
      open: () => {
        tries += 1;
        return Promise.reject(unreachable('the host', 'not there'));
      },
    };
    const wire = new WireClient({ transport, retry: { firstMs: 10_000, mostMs: 10_000 } });
    const request = expect(wire.call('echo')).rejects.toMatchObject({ code: 'closed' });
    await vi.advanceTimersByTimeAsync(1);
    expect(tries).toBe(1);
    await wire.close();
    await request;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries).toBe(1);
  });
});
