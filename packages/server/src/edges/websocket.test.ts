import { failure } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import type { Connection, SocketRoute } from '../http/route.ts';
import { systemClock } from '../parts/system-ports.ts';
import {
  ada,
  closeCode,
  exchangeRaw,
  frame,
  RawPeer,
  type RunningEdge,
  readFrames,
  startEdge,
  upgradeHead,
} from './harness.contract.ts';
import { openIntake } from './intake.ts';
import { WEBSOCKET_FAULTS } from './websocket-faults.contract.ts';

/** A route that sends back each message. */
function echo(parts: Partial<SocketRoute> = {}): SocketRoute {
  return {
    path: '/ws',
    access: 'open',
    summary: 'Echoes its input.',
    open: async (connection) => {
      for await (const message of connection.messages) await connection.send(message);
    },
    ...parts,
  };
}

/** A route that hands its connection to the test and stays open until it is closed. */
function held(connections: Connection[]): SocketRoute {
  return echo({
    open: (connection) => {
      connections.push(connection);
      return new Promise((resolve) => connection.signal.addEventListener('abort', () => resolve()));
    },
  });
}

async function upgrade({ port, host }: RunningEdge, fields: string[] = []): Promise<RawPeer> {
  const peer = await RawPeer.connect(port);
  await peer.send(upgradeHead({ path: '/ws', host, fields })).receives('\r\n\r\n');
  expect(peer.text).toMatch(/^HTTP\/1.1 101 /);
  return peer;
}

function texts(peer: RawPeer): string[] {
  return readFrames(peer.bytes)
    .filter(({ opcode }) => opcode === 1)
    .map(({ payload }) => payload.toString());
}

const hasClosed = (received: Buffer) => closeCode(received) !== undefined;

describe('a connection', () => {
  test('carries text both ways, in order', async () => {
    const edge = await startEdge({ sockets: [echo()] });
    const peer = await upgrade(edge);
    // RFC 6455 §1.3 has this key and this answer.
    expect(peer.text).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    const sent = Array.from({ length: 100 }, (_, at) => `message ${at} é`);
    peer.send(Buffer.concat(sent.map((payload) => frame({ payload }))));
    await peer.receives((received) => readFrames(received).length === 100);
    expect(texts(peer)).toEqual(sent);
  });

  test('carries long texts between short ones, in order', async () => {
    const peer = await upgrade(await startEdge({ sockets: [echo()] }), ['X-API-Key: ada']);
    // Characters of two and four bytes, so that some of them lie across every cut.
    const long = 'xé😀'.repeat(100_000);
    const sent = ['first', long, 'second', `${long}!`, 'third'];
    peer.send(Buffer.concat(sent.map((payload) => frame({ payload }))));
    await peer.receives((received) => readFrames(received).length === 5);
    const received = texts(peer);
    expect(received.map((text) => text.length)).toEqual(sent.map((text) => text.length));
    expect(received.every((text, at) => text === sent[at])).toBe(true);
  });

  test('whose peer sends more than its rate is read more slowly, and loses nothing', async () => {
    const clock = new TestClock();
    const intake = openIntake({ clock, rates: { messagesPerMinute: 530_000 } });
    const edge = await startEdge({ sockets: [echo()], intake });
    const peer = await upgrade(edge);
    const sent = Array.from({ length: 620 }, (_, at) => `message ${at}`);
    peer.send(Buffer.concat(sent.map((payload) => frame({ payload }))));
    await expect.poll(() => intake.rates.delay('address 127.0.0.1')).toBeGreaterThan(0);
    const fast = await upgrade(edge, ['X-API-Key: ada']);
    await fast.send(frame({ payload: 'another caller' })).receives('another caller');
    expect(texts(peer).length).toBeLessThan(620);
    clock.pass(60_000);
    await peer.receives((received) => readFrames(received).length === 620);
    expect(texts(peer)).toEqual(sent);
  });

  test('is not compressed, whatever the peer offers', async () => {
    const peer = await upgrade(await startEdge({ sockets: [echo()] }), [
      'Sec-WebSocket-Extensions: permessage-deflate',
    ]);
    expect(peer.text).not.toContain('Sec-WebSocket-Extensions');
  });

  test('knows its caller, address, path and query', async () => {
    const connections: Connection[] = [];
    const edge = await startEdge({ sockets: [{ ...held(connections), path: '/ws/:id', access: 'agent' }] });
    const client = new WebSocket(`ws://${edge.host}/ws/7?after=3`, { headers: { 'x-api-key': 'ada' } });
    await expect.poll(() => connections.length).toBe(1);
    expect(connections[0]).toMatchObject({
      principal: ada,
      address: '127.0.0.1',
      path: '/ws/7',
      params: { id: '7' },
      bufferedBytes: 0,
    });
    expect(connections[0]?.query.get('after')).toBe('3');
    client.terminate();
    await expect.poll(() => connections[0]?.signal.aborted).toBe(true);
    await expect(connections[0]?.send('late')).rejects.toThrow('closed');
  });

  test('closes with 1000 when its route is done, and with 1011 when the route fails', async () => {
    const done = await upgrade(await startEdge({ sockets: [echo({ open: async () => {} })] }));
    await done.receives(hasClosed);
    expect(closeCode(done.bytes)).toBe(1000);

    const edge = await startEdge({ sockets: [echo({ open: () => Promise.reject(new Error('secret')) })] });
    const failed = await upgrade(edge);
    await failed.receives(hasClosed);
    expect(closeCode(failed.bytes)).toBe(1011);
    expect(failed.text).not.toContain('secret');
    expect(edge.log.lines).toMatchObject([{ level: 'error' }]);
  });

  test('gives the route the messages received before the peer closed', async () => {
    const received: string[] = [];
    const edge = await startEdge({
      sockets: [
        echo({
          open: async ({ messages }) => {
            for await (const message of messages) {
              received.push(message);
              await new Promise((resolve) => setTimeout(resolve, 5));
            }
            received.push('end');
          },
        }),
      ],
    });
    const peer = await upgrade(edge);
    peer.send(Buffer.concat([frame({ payload: 'a' }), frame({ payload: 'b' }), frame({ opcode: 8 })]));
    await expect.poll(() => received).toEqual(['a', 'b', 'end']);
  });

  test('speaks the subprotocol the route wants most', async () => {
    const edge = await startEdge({ sockets: [echo({ subprotocols: ['e2a.v2', 'e2a.v1'] })] });
    const peer = await upgrade(edge, ['Sec-WebSocket-Protocol: other, e2a.v1, e2a.v2']);
    expect(peer.text).toContain('Sec-WebSocket-Protocol: e2a.v2\r\n');
    expect((await upgrade(edge)).text).not.toContain('Sec-WebSocket-Protocol');
    const fields = ['Sec-WebSocket-Protocol: other'];
    expect(await exchangeRaw(edge.port, upgradeHead({ path: '/ws', host: edge.host, fields }))).toMatch(
      /^HTTP\/1.1 400 /,
    );
  });
});

describe('an upgrade is refused', () => {
  test.each([
    ['with an absolute target', 'http://evil.example/ws', [], 400],
    ['with 65 header fields', '/ws', Array.from({ length: 60 }, (_, at) => `X-${at}: y`), 431],
    ['to an unknown path', '/other', [], 404],
    ['for another host', '/ws', ['Host: evil.example'], 400],
    ['from a page of another origin', '/ws', ['Origin: http://evil.example'], 403],
    ['without a key', '/ws', [], 401],
    ['with a wrong key', '/ws', ['X-API-Key: nobody'], 401],
    ['with a key for something else', '/ws', ['X-API-Key: admin'], 403],
    ['with an unknown version', '/ws', ['X-API-Key: ada', 'Sec-WebSocket-Version: 14'], 400],
  ])('%s', async (_name, path, fields, status) => {
    const { port, host, edge } = await startEdge({ sockets: [echo({ access: 'agent' })] });
    const received = await exchangeRaw(port, upgradeHead({ path, host, fields }));
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(received).toContain('Connection: close');
    await edge.close();
  });

  test('with 503 and Retry-After, or the answer of the access check', async () => {
    const { port, host } = await startEdge({
      sockets: [echo()],
      authenticate: () => failure('rate_limited', { retry_after: 9 }),
    });
    const received = await exchangeRaw(port, upgradeHead({ path: '/ws', host, fields: ['X-API-Key: x'] }));
    expect(received).toMatch(/^HTTP\/1.1 429 [\s\S]*Retry-After: 9\r\n/);
  });
});

describe('a slow reader', () => {
  test('holds the sender back, and what is sent keeps its order', async () => {
    const connections: Connection[] = [];
    const edge = await startEdge({ sockets: [held(connections)], socketLimits: { maxBufferedBytes: 1024 * 1024 } });
    const peer = await upgrade(edge);
    peer.socket.pause();
    await expect.poll(() => connections.length).toBe(1);
    const [connection] = connections;
    if (connection === undefined) throw new Error('no connection');
    const text = 'x'.repeat(256 * 1024);
    let taken = 0;
    const sends = Array.from({ length: 100 }, (_, at) => connection.send(`${at};${text}`).then(() => taken++));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(taken).toBeLessThan(60);
    expect(connection.bufferedBytes).toBeGreaterThan(256 * 1024);
    peer.socket.resume();
    await Promise.all(sends);
    await peer.receives((received) => readFrames(received).length === 100);
    expect(texts(peer).map((sent) => Number.parseInt(sent, 10))).toEqual([...Array(100).keys()]);
    expect(connection.bufferedBytes).toBe(0);
  });

  test('is closed with 1013 when too many sends wait for it', async () => {
    const connections: Connection[] = [];
    const edge = await startEdge({
      sockets: [held(connections)],
      socketLimits: { maxBufferedBytes: 1, maxWaitingSends: 3, closeMs: 50 },
    });
    const peer = await upgrade(edge);
    await expect.poll(() => connections.length).toBe(1);
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => connections[0]?.send('hello')));
    expect(results.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    await peer.receives(hasClosed);
    expect(closeCode(peer.bytes)).toBe(1013);
    expect(peer.text).toContain('resume');
  });

  test('is given up when it takes nothing for too long', async () => {
    const connections: Connection[] = [];
    const edge = await startEdge({ sockets: [held(connections)], socketLimits: { stallMs: 100, pingMs: 60_000 } });
    const peer = await upgrade(edge);
    peer.socket.pause();
    await expect.poll(() => connections.length).toBe(1);
    await expect(connections[0]?.send('x'.repeat(32 * 1024 * 1024))).rejects.toThrow();
    expect(connections[0]?.signal.aborted).toBe(true);
  });
});

test('a route that does not read holds the peer back', async () => {
  const connections: Connection[] = [];
  const edge = await startEdge({ sockets: [held(connections)] });
  // With a key: the rate of an anonymous peer would keep the test waiting for half a minute.
  const peer = await upgrade(edge, ['X-API-Key: ada']);
  const message = frame({ payload: 'x'.repeat(64 * 1024) });
  let sent = 0;
  for (; sent < 1000 && peer.socket.writableLength < 1024 * 1024; sent++) {
    peer.send(message);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sent).toBeLessThan(1000);
  let read = 0;
  for await (const _ of connections[0]?.messages ?? []) if (++read === sent) break;
  expect(read).toBe(sent);
});

test('a route that leaves a few large messages unread holds the peer back, too', async () => {
  const edge = await startEdge({ sockets: [held([])], socketLimits: { maxUnreadMessages: 1000 } });
  const peer = await upgrade(edge);
  const message = frame({ payload: 'x'.repeat(4 * 1024 * 1024) });
  let sent = 0;
  for (; sent < 30 && peer.socket.writableLength === 0; sent++) {
    peer.send(message);
    for (let turn = 0; turn < 5000 && peer.socket.writableLength > 0; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  expect(sent).toBeLessThan(30);
  peer.socket.destroy();
});

describe('time', () => {
  test('a message whose rest was waiting on our side has its whole time again when we read on', async () => {
    const clock = new TestClock();
    let read: (() => void) | undefined;
    const late = echo({
      open: async (connection) => {
        await new Promise<void>((resolve) => {
          read = resolve;
        });
        for await (const message of connection.messages) await connection.send(message);
      },
    });
    const socketLimits = { checkMs: 1_000, messageMs: 10_000, maxUnreadMessages: 1 };
    const peer = await upgrade(await startEdge({ sockets: [late], clock, socketLimits }));
    const second = frame({ payload: 'second' });
    // The pong proves that all of it has arrived.
    peer.send(Buffer.concat([frame({ payload: 'first' }), frame({ opcode: 9 }), second.subarray(0, 8)]));
    await peer.receives((received) => readFrames(received).some(({ opcode }) => opcode === 10));
    for (let passed = 0; passed < 15; passed++) await clock.advance(1_000);
    read?.();
    await peer.receives('first');
    await clock.advance(1_000);
    await peer.send(second.subarray(8)).receives('second');
    expect(closeCode(peer.bytes)).toBeUndefined();
  });

  test('a peer that answers no ping is dropped, one that does is kept', async () => {
    const clock = new TestClock();
    const edge = await startEdge({ sockets: [echo()], clock, socketLimits: { checkMs: 1_000 } });
    const silent = await upgrade(edge);
    const awake = await upgrade(edge);
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) await clock.advance(1_000);
    };
    await pass(30);
    await Promise.all(
      [silent, awake].map((peer) => peer.receives((received) => readFrames(received).some((f) => f.opcode === 9))),
    );
    awake.send(frame({ opcode: 10 }));
    await awake.send(frame({ payload: 'still here' })).receives('still here');
    const dropped = new Promise((resolve) => silent.socket.once('end', resolve));
    await pass(30);
    await dropped;
    await awake.send(frame({ payload: 'and now' })).receives('and now');
  });

  test.each([
    ['a fragment that no other follows', frame({ payload: 'a', fin: false })],
    ['a frame that stops in its payload', frame({ payload: 'abcdef' }).subarray(0, 8)],
    ['a frame that stops in its header', frame({ payload: 'a' }).subarray(0, 1)],
    ['a fragment followed by pings', Buffer.concat([frame({ payload: 'a', fin: false }), frame({ opcode: 9 })])],
  ])('%s is closed with 1008 after ten seconds', async (_name, bytes) => {
    const clock = new TestClock();
    const edge = await startEdge({ sockets: [echo()], clock, socketLimits: { checkMs: 1_000 } });
    const peer = await upgrade(edge);
    await peer.send(frame({ payload: 'whole' })).receives('whole');
    peer.send(bytes);
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (let second = 0; second < 9; second++) await clock.advance(1_000);
    expect(closeCode(peer.bytes)).toBeUndefined();
    await clock.advance(1_000);
    await peer.receives(hasClosed);
    expect(closeCode(peer.bytes)).toBe(1008);
  });

  test('no timer runs when no peer is connected', async () => {
    const clock = new TestClock();
    const edge = await startEdge({ sockets: [echo()], clock });
    for (let round = 0; round < 2; round++) {
      const peer = await upgrade(edge);
      expect(clock.waiting).toBe(1);
      peer.socket.destroy();
      await expect.poll(() => clock.waiting).toBe(0);
    }
  });
});

describe('abuse', () => {
  test.each(WEBSOCKET_FAULTS)('%s: %#', async (_name, bytes, code) => {
    const edge = await startEdge({ sockets: [echo()] });
    const peer = await upgrade(edge);
    peer.send(bytes);
    await peer.receives(hasClosed);
    expect(closeCode(peer.bytes)).toBe(code);
    expect(texts(peer)).toEqual([]);
    // The server does not wait for a peer that never closes its side.
    await edge.edge.close({ drainMs: 1_000 });
  });

  test('thousands of messages in one write do not delay other peers', async () => {
    const received: string[] = [];
    const open: SocketRoute['open'] = async ({ messages }) => {
      for await (const message of messages) received.push(message);
    };
    const intake = openIntake({ clock: systemClock, rates: { messagesPerMinute: 1_000_000_000 } });
    const edge = await startEdge({ sockets: [echo({ open })], intake });
    const [many, one] = [await upgrade(edge), await upgrade(edge)];
    many.send(Buffer.concat(Array(5_000).fill(frame({ payload: 'x' }))));
    one.send(frame({ payload: 'me too' }));
    await expect.poll(() => received.length).toBe(5_001);
    expect(received.indexOf('me too')).toBeLessThan(2_500);
  });

  test('64 fragments are one message', async () => {
    const peer = await upgrade(await startEdge({ sockets: [echo()] }));
    const middle = Array(62).fill(frame({ opcode: 0, fin: false, payload: 'b' }));
    peer.send(Buffer.concat([frame({ fin: false, payload: 'a' }), ...middle, frame({ opcode: 0, payload: 'c' })]));
    await peer.receives(`a${'b'.repeat(62)}c`);
  });
});

describe('stopping', () => {
  test('lets a route finish, then closes with 1001', async () => {
    let finish: () => void = () => {};
    const edge = await startEdge({
      sockets: [
        echo({
          open: async ({ messages }) => {
            for await (const _ of messages) {
              await new Promise<void>((resolve) => {
                finish = resolve;
              });
            }
          },
        }),
      ],
    });
    const peer = await upgrade(edge);
    peer.send(frame({ payload: 'work' }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const closed = edge.edge.close({ drainMs: 5_000 });
    peer.send(frame({ payload: 'more work' }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closeCode(peer.bytes)).toBeUndefined();
    finish();
    await peer.receives(hasClosed);
    expect(closeCode(peer.bytes)).toBe(1001);
    peer.socket.end();
    await closed;
  });

  test('aborts a route that does not finish, and closes its peer with 1001', async () => {
    const connections: Connection[] = [];
    const edge = await startEdge({ sockets: [held(connections)] });
    const peer = await upgrade(edge);
    await edge.edge.close({ drainMs: 10 });
    expect(connections[0]?.signal.aborted).toBe(true);
    expect(closeCode(peer.bytes)).toBe(1001);
  });

  test('a caller whose key is revoked is closed with 1008', async () => {
    const connections: Connection[] = [];
    const edge = await startEdge({ sockets: [{ ...held(connections), access: 'agent' }] });
    const peer = await upgrade(edge, ['X-API-Key: ada']);
    edge.edge.disconnect(({ keyId }) => keyId === 'k1');
    await peer.receives(hasClosed);
    expect(closeCode(peer.bytes)).toBe(1008);
    expect(connections[0]?.signal.aborted).toBe(true);
  });
});
