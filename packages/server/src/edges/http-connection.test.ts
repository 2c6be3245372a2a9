import { describe, expect, test } from 'vitest';
import type { InboundRequest } from '../http/route.ts';
import { exchangeRaw, head, RawPeer, route, startEdge } from './harness.contract.ts';

const JSON_TYPE = 'Content-Type: application/json';

/** Answers with the received body. */
const echo = route({
  method: 'POST',
  path: '/echo',
  body: { contentTypes: ['application/json'], maxBytes: 200_000 },
  handle: ({ body }: InboundRequest) => ({ status: 200, text: Buffer.from(body).toString() }),
});

function post(host: string, text: string, ...fields: string[]): string {
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  return head({ method: 'POST', path: '/echo', host, fields: [JSON_TYPE, length, ...fields] }) + text;
}

function chunked(host: string, text: string): string {
  const fields = [JSON_TYPE, 'Transfer-Encoding: chunked'];
  const size = Buffer.byteLength(text).toString(16);
  return `${head({ method: 'POST', path: '/echo', host, fields })}${size}\r\n${text}\r\n0\r\n\r\n`;
}

/** The bodies of the received answers. */
function bodies(received: string): string[] {
  return received.split(/HTTP\/1.1 .*?\r\n\r\n/s).slice(1);
}

/** A route that answers when the test releases it. */
function slowRoute() {
  const slow = { isCalled: false, answer: () => {}, route: route({ path: '/slow' }) };
  slow.route = route({
    path: '/slow',
    handle: () => {
      slow.isCalled = true;
      return new Promise((resolve) => {
        slow.answer = () => resolve({ status: 200, text: 'slow' });
      });
    },
  });
  return slow;
}

describe('a connection', () => {
  test('takes requests with a length and in chunks in turn', async () => {
    const { port, host } = await startEdge({ routes: [echo] });
    const peer = await RawPeer.connect(port);
    await peer.send(post(host, 'one')).receives('one');
    await peer.send(post(host, 'two')).receives('two');
    await peer.send(chunked(host, 'three')).receives('three');
    await peer.send(post(host, 'four')).receives('four');
    expect(bodies(peer.text)).toEqual(['one', 'two', 'three', 'four']);
  });

  test('with pipelined requests gets the answers in order', async () => {
    const { port, host } = await startEdge({ routes: [echo] });
    const requests = [post(host, 'one'), post(host, 'two'), chunked(host, 'three'), post(host, 'four'), '{}\r\n\r\n'];
    const received = await exchangeRaw(port, requests.join(''));
    expect(bodies(received).slice(0, 4)).toEqual(['one', 'two', 'three', 'four']);
    expect(received.match(/HTTP\/1.1 \d+/g)?.at(-1)).toBe('HTTP/1.1 400');
  });

  test('with half a request behind a slow answer continues with the rest', async () => {
    const slow = slowRoute();
    const { port, host } = await startEdge({ routes: [slow.route, echo] });
    const peer = await RawPeer.connect(port);
    const next = post(host, 'next');
    peer.send(head({ path: '/slow', host }) + next.slice(0, 20));
    await expect.poll(() => slow.isCalled).toBe(true);
    slow.answer();
    await peer.receives('slow');
    await peer.send(next.slice(20)).receives('next');
    expect(bodies(peer.text)).toEqual(['slow', 'next']);
  });

  test('that receives more than is read ahead loses nothing', async () => {
    const slow = slowRoute();
    const { port, host } = await startEdge({ routes: [slow.route, echo] });
    const peer = await RawPeer.connect(port);
    const long = 'a'.repeat(190_000);
    peer.send(head({ path: '/slow', host }) + post(host, long, 'X-API-Key: ada') + post(host, 'next'));
    await expect.poll(() => slow.isCalled).toBe(true);
    slow.answer();
    await peer.receives(/next$/);
    expect(bodies(peer.text)).toEqual(['slow', long, 'next']);
  });

  test.each([
    ['has a length', post],
    ['is chunked', chunked],
  ])(
    'that sends everything at once and closes its half is answered, and ended: the last body %s',
    async (_what, last) => {
      const { port, host } = await startEdge({ routes: [echo] });
      const peer = await RawPeer.connect(port);
      peer.socket.end(post(host, 'one') + last(host, 'two'));
      await peer.closed;
      expect(bodies(peer.text)).toEqual(['one', 'two']);
    },
  );

  test('whose peer closes its half while it waits is closed after the answer', async () => {
    const slow = slowRoute();
    const { port, host } = await startEdge({ routes: [slow.route], limits: { probeMs: 600_000 } });
    const peer = await RawPeer.connect(port);
    peer.socket.end(head({ path: '/slow', host }));
    await expect.poll(() => slow.isCalled).toBe(true);
    slow.answer();
    await peer.closed;
    expect(bodies(peer.text)).toEqual(['slow']);
  }, 5_000);

  test('may be silent for as long as its answer takes', async () => {
    const slow = slowRoute();
    const { port, host } = await startEdge({ routes: [slow.route, echo], limits: { keepAliveMs: 1 } });
    const peer = await RawPeer.connect(port);
    peer.send(head({ path: '/slow', host }));
    await expect.poll(() => slow.isCalled).toBe(true);
    // An idle connection is kept for the announced time and one second more.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    slow.answer();
    await peer.receives('slow');
  });

  test('with nothing to do is not waited for when the server stops', async () => {
    const { port, host, edge } = await startEdge({ routes: [echo] });
    const peer = await RawPeer.connect(port);
    await peer.send(post(host, 'one')).receives('one');
    await edge.close({ drainMs: 600_000 });
  });

  test('that has never sent a byte is not waited for when the server stops', async () => {
    const { port, edge } = await startEdge({ routes: [echo] });
    await RawPeer.connect(port);
    await expect.poll(() => edge.load.connections).toBe(1);
    await edge.close({ drainMs: 600_000 });
  });

  test('sends Connection: close with its answer when the server is stopping', async () => {
    const slow = slowRoute();
    const { port, host, edge } = await startEdge({ routes: [slow.route] });
    const peer = await RawPeer.connect(port);
    peer.send(head({ path: '/slow', host }));
    await expect.poll(() => slow.isCalled).toBe(true);
    const closed = edge.close({ drainMs: 600_000 });
    slow.answer();
    await closed;
    expect(await peer.receives('slow')).toContain('Connection: close');
  });

  test('starts its next request when the previous one has released its place', async () => {
    const events: string[] = [];
    const counted = route({
      path: '/',
      counts: true,
      handle: () => {
        events.push('handled');
        return { status: 200 };
      },
    });
    const count = () => ({ limits: [], release: () => events.push('released') });
    const { port, host } = await startEdge({ routes: [counted], count });
    const peer = await RawPeer.connect(port);
    peer.send(head({ host }).repeat(2));
    await peer.receives(/HTTP.*HTTP/s);
    expect(events).toEqual(['handled', 'released', 'handled', 'released']);
  });

  test('that serves many requests leaks nothing', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    const { port, host, edge } = await startEdge({ routes: [echo] });
    const peer = await RawPeer.connect(port);
    const text = 'a'.repeat(50_000);
    for (let round = 1; round <= 100; round++) {
      peer.send(post(host, `${text}${round}`));
      await peer.receives((received) => received.includes(`a${round}`));
    }
    process.off('warning', warn);
    expect(warnings).toEqual([]);
    expect(edge.load).toEqual({ connections: 1, streams: 0, sockets: 0 });
  });
});
