import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../parts/system-ports.ts';
import { reportAcceptErrors } from './accept-errors.ts';
import { exchangeRaw, head, RawPeer, route, startEdge } from './harness.contract.ts';
import { openIntake } from './intake.ts';

const MEBIBYTE = 1024 * 1024;
const taking = (maxBytes: number, handled: () => void = () => {}) =>
  route({
    method: 'POST',
    path: '/',
    body: { contentTypes: ['application/json'], maxBytes },
    handle: () => {
      handled();
      return { status: 200 };
    },
  });

describe('peers that take their time', () => {
  test('headers that do not end are cut off with 408', async () => {
    const { port } = await startEdge({ limits: { headersMs: 60, requestMs: 200 } });
    expect(await exchangeRaw(port, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-')).toMatch(/^HTTP\/1.1 408 /);
  });

  test('a silent connection is closed', async () => {
    const { port } = await startEdge({ limits: { headersMs: 60, requestMs: 200 } });
    expect(await exchangeRaw(port, '')).toMatch(/^HTTP\/1.1 408 /);
  });

  test('slow headers are cut off, however often a byte arrives', async () => {
    const { port, host } = await startEdge({ limits: { headersMs: 100, requestMs: 200 } });
    const peer = await RawPeer.connect(port);
    peer.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nX: `);
    const dribble = setInterval(() => peer.send('a'), 10);
    await peer.closed;
    clearInterval(dribble);
    expect(peer.text).toMatch(/^HTTP\/1.1 408 /);
  });

  test('a body that dribbles in is cut off, and its route never runs', async () => {
    let handled = 0;
    const { port, host } = await startEdge({
      routes: [taking(MEBIBYTE, () => handled++)],
      limits: { headersMs: 50, requestMs: 100 },
    });
    const peer = await RawPeer.connect(port);
    peer.send(head({ method: 'POST', host, fields: ['Content-Type: application/json', 'Content-Length: 1000'] }));
    const dribble = setInterval(() => peer.send(' '), 10);
    await peer.closed;
    clearInterval(dribble);
    expect(peer.text).toMatch(/^HTTP\/1.1 408 /);
    expect(handled).toBe(0);
  });

  test('a connection kept alive without a request is closed', async () => {
    const { port, host } = await startEdge({ routes: [route({ path: '/' })], limits: { keepAliveMs: 20 } });
    // Node adds its own second to what it announces.
    expect(await exchangeRaw(port, head({ host }))).toContain('200 OK');
  });
});

describe('bodies that are too large', () => {
  const json = 'Content-Type: application/json';

  test('a length over the limit is refused before a byte of the body is read', async () => {
    const { port, host } = await startEdge({ routes: [taking(10)] });
    const received = await exchangeRaw(port, head({ method: 'POST', host, fields: [json, 'Content-Length: 11'] }));
    expect(received).toMatch(/^HTTP\/1.1 413 /);
    expect(received).toContain('Connection: close');
    expect(received).toContain("exceeds this route's limit of 10 bytes");
  });

  test('exactly the limit is taken, with a length and in chunks', async () => {
    const { port, host } = await startEdge({ routes: [taking(10)] });
    const post = (...fields: string[]) =>
      head({ method: 'POST', host, fields: [json, 'Connection: close', ...fields] });
    expect(await exchangeRaw(port, `${post('Content-Length: 10')}0123456789`)).toMatch(/^HTTP\/1.1 200 /);
    const chunks = '5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n';
    expect(await exchangeRaw(port, `${post('Transfer-Encoding: chunked')}${chunks}`)).toMatch(/^HTTP\/1.1 200 /);
    const more = '5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n';
    expect(await exchangeRaw(port, `${post('Transfer-Encoding: chunked')}${more}`)).toMatch(/^HTTP\/1.1 413 /);
  });

  test('a body without end is cut off soon after the limit', async () => {
    let handled = 0;
    const { port, host } = await startEdge({
      routes: [taking(MEBIBYTE, () => handled++)],
      limits: { lingerBytes: 256 * 1024 },
    });
    const peer = await RawPeer.connect(port);
    peer.send(head({ method: 'POST', host, fields: [json, 'Transfer-Encoding: chunked'] }));
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 97), Buffer.from('\r\n')]);
    let offered = 0;
    while (offered < 200 * MEBIBYTE && !peer.socket.destroyed) {
      offered += chunk.length;
      if (!peer.socket.write(chunk)) {
        await Promise.race([peer.closed, new Promise((resolve) => peer.socket.once('drain', resolve))]);
      }
    }
    await peer.closed;
    expect(peer.text).toMatch(/^HTTP\/1.1 413 /);
    // The kernel's buffers on both sides hold more bytes than the server has read.
    expect(peer.socket.bytesWritten).toBeLessThan(12 * MEBIBYTE);
    expect(handled).toBe(0);
  });

  test('an answer that comes before the body is not lost, and the connection lives on if the rest is small', async () => {
    const { port, host } = await startEdge({ routes: [taking(MEBIBYTE), route({ path: '/' })] });
    const peer = await RawPeer.connect(port);
    peer.send(head({ method: 'POST', host, fields: ['Content-Type: text/plain', 'Content-Length: 5'] }));
    await peer.receives('HTTP/1.1 415');
    peer.send(`hello${head({ host })}`);
    await peer.receives('HTTP/1.1 200 OK');
  });

  test('a length that lies makes the rest a separate request, which it is not', async () => {
    const { port, host } = await startEdge({ routes: [taking(MEBIBYTE)] });
    const received = await exchangeRaw(
      port,
      `${head({ method: 'POST', host, fields: [json, 'Content-Length: 2'] })}{}{}{}`,
    );
    expect(received.match(/^HTTP\/1.1 \d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('a peer that resets in the middle of its body leaves nothing running', async () => {
    let handled = 0;
    const { edge, port, host } = await startEdge({ routes: [taking(MEBIBYTE, () => handled++)] });
    const peer = await RawPeer.connect(port);
    peer.send(head({ method: 'POST', host, fields: [json, 'Content-Length: 1000'] })).send('{');
    await new Promise((resolve) => setTimeout(resolve, 20));
    peer.socket.resetAndDestroy();
    await edge.close();
    expect(handled).toBe(0);
  });
});

describe('requests that two servers could read differently get 400 and the end of the connection', () => {
  const post = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';
  const get = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n';
  const next = 'GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  test.each([
    ['length and chunks', `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks and length', `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `],
    ['the same length twice', `${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`],
    ['a list of lengths', `${post}Content-Length: 2, 2\r\n\r\n{}`],
    ['a signed length', `${post}Content-Length: +2\r\n\r\n{}`],
    ['a negative length', `${post}Content-Length: -2\r\n\r\n{}`],
    ['a hexadecimal length', `${post}Content-Length: 0x2\r\n\r\n{}`],
    ['an empty length', `${post}Content-Length: \r\n\r\n{}`],
    ['a length beyond all bounds', `${post}Content-Length: 99999999999999999999999\r\n\r\n{}`],
    ['a coding that is nearly chunked', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['identity', `${post}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n`],
    ['chunked, then identity', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['identity, then chunked', `${post}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n`],
    ['gzip, then chunked', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['chunked twice', `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunked behind a vertical tab', `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
    ['chunked in HTTP/1.0', `${post.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a space before the colon', `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    ['a bare LF after the request line', `GET / HTTP/1.1\nHost: 127.0.0.1\r\n\r\n`],
    ['a bare LF after a field', `GET / HTTP/1.1\r\nHost: 127.0.0.1\nX: y\r\n\r\n`],
    ['a bare LF at the end', `${get}\n`],
    ['a bare CR in a field', `${get}X: a\rY: b\r\n\r\n`],
    ['a folded field', `${get}X: a\r\n b\r\n\r\n`],
    ['a folded field with a tab', `${get}X: a\r\n\tb\r\n\r\n`],
    ['a folded coding', `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
    ['a folded first field', `GET / HTTP/1.1\r\n Host: 127.0.0.1\r\n\r\n`],
    ['a NUL in a field', `${get}X: a\0b\r\n\r\n`],
    ['a field without a name', `${get}: b\r\n\r\n`],
    ['a chunk size ended by LF', `${post}Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n`],
    ['a chunk ended by LF', `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\n0\r\n\r\n`],
    ['a chunk extension with LF', `${post}Transfer-Encoding: chunked\r\n\r\n2;a\nb\r\n{}\r\n0\r\n\r\n`],
    ['a negative chunk', `${post}Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`],
    ['a chunk size with 0x', `${post}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`],
    ['an absolute target', `GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
    ['a target that is a star', `OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
    ['a fragment', `GET /#x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
    ['a space in the target', `GET /a b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
    ['raw UTF-8 in the target', `GET /\xc3\xa9 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
    ['an unknown method', `FOO / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
    ['an unknown version', `GET / HTTP/1.2\r\nHost: 127.0.0.1\r\n\r\n`],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('%s', async (_name, bytes) => {
    const reached: string[] = [];
    const see = ({ path }: { path: string }) => {
      reached.push(path);
      return { status: 200 };
    };
    const { port } = await startEdge({
      routes: [
        { ...taking(1024), handle: see },
        route({ path: '/', handle: see }),
        route({ path: '/smuggled', handle: see }),
      ],
    });
    const received = await exchangeRaw(port, bytes + next);
    expect(received.match(/^HTTP\/1.1 \d+/gm)).toEqual(['HTTP/1.1 400']);
    expect(reached).toEqual([]);
    expect(received).not.toMatch(/HPE_|Error|\.ts|\.js/);
  });
});

describe('headers', () => {
  test('64 fields are taken, 65 are 431', async () => {
    const { port, host } = await startEdge({ routes: [route({ path: '/' })] });
    const fields = Array.from({ length: 62 }, (_, at) => `X-${at}: y`);
    const get = (more: string[]) => head({ host, fields: ['Connection: close', ...fields, ...more] });
    expect(await exchangeRaw(port, get([]))).toMatch(/^HTTP\/1.1 200 /);
    expect(await exchangeRaw(port, get(['X: y']))).toMatch(/^HTTP\/1.1 431 /);
  });

  test('more than 16 KiB are 431', async () => {
    const { port, host } = await startEdge({ routes: [route({ path: '/' })] });
    const get = head({ host, fields: [`X: ${'y'.repeat(16 * 1024)}`] });
    expect(await exchangeRaw(port, get)).toMatch(/^HTTP\/1.1 431 /);
  });
});

describe('too much of everything', () => {
  test('connections over the cap are refused with 503, and those there are served', async () => {
    const intake = openIntake({ clock: systemClock, connections: { most: 2, perAddress: 2 } });
    const { port, host, log } = await startEdge({ routes: [route({ path: '/' })], intake });
    const peers = [await RawPeer.connect(port), await RawPeer.connect(port)];
    const third = await exchangeRaw(port, head({ host }));
    expect(third).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n/);
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { refused: 1 } }]);
    for (const peer of peers) await peer.send(head({ host })).receives('200 OK');
  });

  test('one address has a quarter of the connections, and another when it closes one', async () => {
    const intake = openIntake({ clock: systemClock, connections: { most: 8 } });
    const { port, host } = await startEdge({ routes: [route({ path: '/' })], intake });
    const [first] = [await RawPeer.connect(port), await RawPeer.connect(port)];
    expect(await exchangeRaw(port, head({ host }))).toMatch(/^HTTP\/1.1 503 /);
    first?.socket.destroy();
    await expect.poll(() => intake.connections.size).toBe(1);
    const next = await RawPeer.connect(port);
    await next.send(head({ host })).receives('200 OK');
  });

  test('a trusted proxy has all of them', async () => {
    const connections = { most: 4, isExempt: (address: string) => address === '127.0.0.1' };
    const intake = openIntake({ clock: systemClock, connections });
    const { port, host } = await startEdge({ routes: [route({ path: '/' })], intake });
    for (let count = 0; count < 4; count += 1) {
      await (await RawPeer.connect(port)).send(head({ host })).receives('200 OK');
    }
  });

  test('peers that do not read their refusal are dropped after a while, and further ones at once', async () => {
    const intake = openIntake({ clock: systemClock, connections: { most: 1 } });
    const { port, edge } = await startEdge({ routes: [route({ path: '/' })], intake });
    const first = await RawPeer.connect(port);
    const others = await Promise.all(Array.from({ length: 50 }, () => RawPeer.connect(port)));
    for (const peer of others) peer.socket.once('end', () => peer.socket.end());
    await Promise.all(others.map(({ closed }) => closed));
    expect(edge.load.connections).toBe(1);
    expect(first.socket.destroyed).toBe(false);
  });

  test('an accept that fails for want of descriptors is logged and ends nothing', async () => {
    const { port, host, log } = await startEdge({ routes: [route({ path: '/' })] });
    const server = createServer();
    reportAcceptErrors(server, { clock: systemClock, log });
    for (let count = 0; count < 3; count += 1) server.emit('error', new Error('accept EMFILE'));
    expect(log.lines).toMatchObject([{ level: 'error', fields: { error: 'Error: accept EMFILE', count: 1 } }]);
    await (await RawPeer.connect(port)).send(head({ host })).receives('200 OK');
  });

  test('requests sent far ahead end the connection', async () => {
    let handled = 0;
    const slow = route({
      path: '/',
      handle: () => {
        handled++;
        return new Promise(() => {});
      },
    });
    const { port, host } = await startEdge({ routes: [slow], limits: { maxPipelined: 4 } });
    expect(await exchangeRaw(port, head({ host }).repeat(6))).toBe('');
    expect(handled).toBe(1);
  });
});
