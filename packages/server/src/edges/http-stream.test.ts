import { describe, expect, test } from 'vitest';
import type { Answer } from '../http/route.ts';
import { exchangeRaw, head, RawPeer, realClock, route, startEdge } from './harness.contract.ts';

/** A source that counts its reads and knows whether it was closed. */
class Source implements AsyncIterable<string> {
  pulls = 0;
  released = false;
  readonly chunk: string;
  readonly count: number;

  constructor(chunk: string, count = Number.POSITIVE_INFINITY) {
    this.chunk = chunk;
    this.count = count;
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return {
      next: async () => {
        if (this.pulls++ >= this.count) return { done: true, value: undefined };
        return { done: false, value: this.chunk };
      },
      return: async () => {
        this.released = true;
        return { done: true, value: undefined };
      },
    };
  }
}

/** A source that yields one record when the test releases it, and knows whether it was closed. */
function waiting() {
  const source = { isReleased: false, give: (_record: string) => {}, stream: {} as AsyncIterable<string> };
  const record = new Promise<string>((resolve) => {
    source.give = resolve;
  });
  source.stream = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: await record }),
      return: async () => {
        source.isReleased = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return source;
}

function streaming(stream: AsyncIterable<string>): Answer {
  return { status: 200, headers: { 'Content-Type': 'text/event-stream' }, stream };
}

describe('a streamed answer', () => {
  test('arrives whole and in order', async () => {
    const { url } = await startEdge({
      routes: [
        route({
          path: '/',
          handle: () =>
            streaming(
              (async function* () {
                for (let n = 0; n < 1000; n++) yield n === 500 ? '' : `${n};`;
              })(),
            ),
        }),
      ],
    });
    const text = await (await fetch(url)).text();
    expect(text.split(';').slice(0, -1).map(Number)).toEqual([...Array(1000).keys()].filter((n) => n !== 500));
  });

  test('continues after the peer has closed its half, and ends when the peer is gone', async () => {
    const sources: ReturnType<typeof waiting>[] = [];
    const { port, host } = await startEdge({
      routes: [
        route({
          path: '/',
          handle: () => {
            const source = waiting();
            sources.push(source);
            return streaming(source.stream);
          },
        }),
      ],
    });
    const [there, gone] = [await RawPeer.connect(port), await RawPeer.connect(port)];
    for (const peer of [there, gone]) await peer.send(head({ host })).receives('Content-Type: text/event-stream');
    there.socket.end();
    gone.socket.destroy();
    await expect.poll(() => sources[1]?.isReleased).toBe(true);
    expect(sources[0]?.isReleased).toBe(false);
    sources[0]?.give('data: 1\n\n');
    await there.receives('data: 1\n\n');
  });

  test('whose peer is gone is let go with the next write', async () => {
    const source = waiting();
    const passes: (() => void)[] = [];
    const wait = () => new Promise<void>((resolve) => passes.push(resolve));
    const { port, host } = await startEdge({
      routes: [route({ path: '/', handle: () => streaming(source.stream) })],
      clock: { ...realClock, wait },
    });
    const gone = await RawPeer.connect(port);
    await gone.send(head({ host })).receives('Content-Type: text/event-stream');
    gone.socket.destroy();
    // Written to after it disconnected, and once more: the first write makes the peer refuse, the second finds that out.
    await expect.poll(() => passes.length).toBe(1);
    passes[0]?.();
    await expect.poll(() => source.isReleased).toBe(true);
  });

  test('shows its headers before its first record', async () => {
    const { port, host } = await startEdge({
      routes: [
        route({
          path: '/',
          handle: () => streaming({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
        }),
      ],
    });
    const peer = await RawPeer.connect(port);
    await peer.send(head({ host })).receives('Content-Type: text/event-stream');
  });

  test('is pulled no further than the socket takes when the peer does not read', async () => {
    const source = new Source('x'.repeat(64 * 1024));
    const { port, host } = await startEdge({ routes: [route({ path: '/', handle: () => streaming(source) })] });
    const peer = await RawPeer.connect(port);
    peer.socket.pause();
    peer.send(head({ host }));
    await expect.poll(() => source.pulls).toBeGreaterThan(0);
    let before = -1;
    while (before !== source.pulls) {
      before = source.pulls;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // Bounded by the kernel's buffers at both ends and one chunk of ours: some megabytes.
    expect(source.pulls * source.chunk.length).toBeLessThan(16 * 1024 * 1024);
    peer.socket.resume();
    await expect.poll(() => source.pulls).toBeGreaterThan(before);
  });

  test('is given up when the peer leaves it unread for too long', async () => {
    const source = new Source('x'.repeat(64 * 1024));
    const { port, host } = await startEdge({
      routes: [route({ path: '/', handle: () => streaming(source) })],
      limits: { stallMs: 50 },
    });
    const peer = await RawPeer.connect(port);
    peer.socket.pause();
    peer.send(head({ host }));
    await expect.poll(() => source.released, { timeout: 5000 }).toBe(true);
  });

  test('closes its source when the peer leaves, even while it waits for the source', async () => {
    let released = false;
    const silent: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => {
        let pulls = 0;
        return {
          next: () => (pulls++ === 0 ? Promise.resolve({ done: false, value: 'one' }) : new Promise(() => {})),
          return: async () => {
            released = true;
            return { done: true, value: undefined };
          },
        };
      },
    };
    const { port, host } = await startEdge({ routes: [route({ path: '/', handle: () => streaming(silent) })] });
    const peer = await RawPeer.connect(port);
    await peer.send(head({ host })).receives('one');
    peer.socket.resetAndDestroy();
    await expect.poll(() => released).toBe(true);
  });

  test('that fails is cut off, so that clients notice it is incomplete', async () => {
    const { port, host, log } = await startEdge({
      routes: [
        route({
          path: '/',
          handle: () =>
            streaming(
              (async function* () {
                yield 'one';
                throw new Error('the agent went away');
              })(),
            ),
        }),
      ],
    });
    const received = await exchangeRaw(port, head({ host }));
    expect(received).toContain('one');
    expect(received).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(log.lines).toMatchObject([{ level: 'error', message: 'an answer broke off' }]);
  });

  test('is not pulled for HEAD', async () => {
    const source = new Source('x');
    const { url } = await startEdge({ routes: [route({ path: '/', handle: () => streaming(source) })] });
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect(source.pulls).toBe(0);
    expect(source.released).toBe(true);
  });

  test('of a source that ends leaves the connection usable', async () => {
    const { port, host } = await startEdge({
      routes: [route({ path: '/s', handle: () => streaming(new Source('x', 3)) }), route({ path: '/' })],
    });
    const peer = await RawPeer.connect(port);
    await peer.send(head({ host, path: '/s' })).receives('0\r\n\r\n');
    await peer.send(head({ host })).receives('{"ok":true}');
  });
});

describe('a large answer in one piece', () => {
  test('that is never read is given up', async () => {
    let signal: AbortSignal | undefined;
    const { port, host } = await startEdge({
      routes: [
        route({
          path: '/',
          handle: (request) => {
            signal = request.signal;
            return { status: 200, text: 'x'.repeat(32 * 1024 * 1024) };
          },
        }),
      ],
      limits: { stallMs: 50 },
    });
    const peer = await RawPeer.connect(port);
    peer.socket.pause();
    peer.send(head({ host }));
    await expect.poll(() => signal?.aborted, { timeout: 5000 }).toBe(true);
  });
});

describe('the signal', () => {
  const hanging = (signals: AbortSignal[]) =>
    route({
      path: '/',
      handle: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });

  test.each([
    ['resets the connection', (peer: RawPeer) => peer.socket.resetAndDestroy()],
    ['closes the connection', (peer: RawPeer) => peer.socket.destroy()],
  ])('aborts when the peer %s', async (_how, leave) => {
    const signals: AbortSignal[] = [];
    const { port, host } = await startEdge({ routes: [hanging(signals)] });
    const peer = await RawPeer.connect(port);
    peer.send(head({ host }));
    await expect.poll(() => signals.length).toBe(1);
    expect(signals[0]?.aborted).toBe(false);
    leave(peer);
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });

  test('does not abort when the answer was delivered', async () => {
    let signal: AbortSignal | undefined;
    const { url } = await startEdge({
      routes: [
        route({
          path: '/',
          handle: (request) => {
            signal = request.signal;
            return { status: 200 };
          },
        }),
      ],
    });
    await (await fetch(url)).text();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(signal?.aborted).toBe(false);
  });

  test('aborts, and the connection ends, when the caller is disconnected', async () => {
    const signals: AbortSignal[] = [];
    const { edge, port, host } = await startEdge({ routes: [hanging(signals)] });
    const answer = exchangeRaw(port, head({ host, fields: ['X-API-Key: ada'] }));
    await expect.poll(() => signals.length).toBe(1);
    edge.disconnect((principal) => principal.keyId === 'other');
    expect(signals[0]?.aborted).toBe(false);
    edge.disconnect((principal) => principal.keyId === 'k1');
    expect(signals[0]?.aborted).toBe(true);
    expect(await answer).toBe('');
  });
});

describe('stopping', () => {
  test('lets running requests finish with Connection: close, and accepts nothing new', async () => {
    let finish: (answer: Answer) => void = () => {};
    const slow = route({
      path: '/',
      handle: () =>
        new Promise<Answer>((resolve) => {
          finish = resolve;
        }),
    });
    const { edge, port, host } = await startEdge({ routes: [slow] });
    const idle = await RawPeer.connect(port);
    const peer = await RawPeer.connect(port);
    peer.send(head({ host }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const closed = edge.close({ drainMs: 5000 });
    idle.socket.once('end', () => idle.socket.end());
    await idle.closed;
    await expect(RawPeer.connect(port)).rejects.toThrow();
    finish({ status: 200, text: 'done' });
    expect(await peer.receives('done')).toMatch(/^HTTP\/1.1 200 OK[\s\S]*Connection: close/);
    peer.socket.end();
    await closed;
  });

  test('does not wait for the next request of a peer whose stream has ended', async () => {
    let finish: () => void = () => {};
    const stream = (async function* () {
      yield 'one';
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    })();
    const { edge, port, host } = await startEdge({ routes: [route({ path: '/', handle: () => streaming(stream) })] });
    const peer = await RawPeer.connect(port);
    await peer.send(head({ host })).receives('one');
    const closed = edge.close({ drainMs: 60_000 });
    finish();
    await peer.receives('0\r\n\r\n');
    peer.socket.end();
    await closed;
  });

  test('aborts handlers when the time is over, then closes connections that do not end', async () => {
    const signals: AbortSignal[] = [];
    const polite = route({
      path: '/polite',
      handle: ({ signal }) =>
        new Promise<Answer>((resolve) => {
          signal.addEventListener('abort', () => resolve({ status: 503 }));
        }),
    });
    const deaf = route({
      path: '/deaf',
      handle: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    const { edge, port, host } = await startEdge({ routes: [polite, deaf] });
    const answers = ['/polite', '/deaf'].map((path) => exchangeRaw(port, head({ host, path })));
    await expect.poll(() => signals.length).toBe(1);
    await edge.close({ drainMs: 10 });
    expect(await answers[0]).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1/);
    expect(await answers[1]).toBe('');
    expect(signals[0]?.aborted).toBe(true);
  });

  test('twice has the effect of once', async () => {
    const { edge } = await startEdge({});
    expect(edge.close()).toBe(edge.close());
    await edge[Symbol.asyncDispose]();
  });
});
