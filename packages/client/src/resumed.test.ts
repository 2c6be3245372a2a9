import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type E2AResponse, newResponse } from '@dragoman/protocols';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { all } from '../test-support/all.ts';
import { type Fault, FaultProxy } from '../test-support/fault-proxy.ts';
import { callerAt, impatient, realServer, spawnAt, startAt, temporaryFolder } from '../test-support/real-server.ts';
import type { StartOptions } from '../test-support/start.ts';
import type { Client } from './client.ts';
import type { Reconnect } from './resumed.ts';

const SENTENCE = 'every frame comes once';

async function behindProxy(options: StartOptions = {}) {
  const real = await realServer(options);
  const proxy = await FaultProxy.before(real.url);
  return { ...real, proxy, far: impatient({ url: proxy.url, key: real.key }) };
}

/** The frames received through all the breaks equal the journal: each frame, once, in order, to the byte. */
async function expectWhole(client: Client, near: Client, requestId: string): Promise<void> {
  const frames = await all(client.send(SENTENCE, { requestId }));
  expect(frames.map((frame) => frame.sequence)).toEqual([0, 1, 2, 3, 4]);
  expect(frames).toEqual(await all(near.resume(requestId)));
}

describe('a stream that breaks off', () => {
  test('at any frame boundary, and anywhere within a frame, gives every frame exactly once', async () => {
    const { proxy, far, client } = await behindProxy();
    await expectWhole(far, client, 'request-000');
    const bytes = proxy.passed[0] ?? Buffer.alloc(0);
    const boundaries = [...bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([index]) => index + 1);
    expect(boundaries.length).toBeGreaterThan(10);
    const places = new Set(boundaries.flatMap((at) => [at - 2, at - 1, at, at + 1, at + 200]));
    let count = 0;
    for (const cutAfter of [0, 1, ...places].filter((at) => at < bytes.length)) {
      proxy.cut();
      proxy.plan({ cutAfter });
      await expectWhole(far, client, `request-${String(++count).padStart(3, '0')}`);
    }
    expect(count).toBeGreaterThan(50);
  });

  test('again and again, anywhere, gives every frame exactly once', async () => {
    const { proxy, far, client } = await behindProxy();
    const fault: fc.Arbitrary<Fault> = fc.oneof(
      { weight: 6, arbitrary: fc.record({ cutAfter: fc.nat({ max: 4000 }) }) },
      { weight: 1, arbitrary: fc.constantFrom<Fault>({ refuse: true }, { deaf: true }, { delayMs: 3 }) },
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { minLength: 1, maxLength: 8 }), async (faults) => {
        proxy.cut();
        proxy.plan(...faults);
        await expectWhole(far, client, `again-${++count}`);
      }),
      { numRuns: 40 },
    );
  });

  test('of a unary request still gives the final frame alone', async () => {
    const { proxy, far } = await behindProxy();
    proxy.plan({ cutAfter: 500 }, { cutAfter: 700 });
    const frames = await all(far.send(SENTENCE, { stream: false }));
    expect(frames.map(({ is_final }) => is_final)).toEqual([true]);
    expect(proxy.connections).toBe(3);
  });

  test('and its reader is notified of every further try', async () => {
    const { proxy, far } = await behindProxy();
    proxy.plan({ deaf: true });
    const events: Reconnect[] = [];
    const answer = far.send(SENTENCE, { onReconnect: (event) => events.push(event) });
    await answer.final();
    expect(events).toMatchObject([{ requestId: answer.requestId, after: -1, error: { code: 'unreachable' } }]);
  });

  test('many at once each continue by themselves', async () => {
    const { proxy, far } = await behindProxy();
    const answers = Array.from({ length: 12 }, () =>
      far.send({ params: { count: 20, everyMs: 5 } }, { agent: 'counter' }),
    );
    const texts = Promise.all(answers.map((answer) => answer.text()));
    for (let cuts = 0; cuts < 4; cuts++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      proxy.cut();
    }
    const expected = Array.from({ length: 20 }, (_, n) => `${n} `).join('');
    expect(await texts).toEqual(answers.map(() => expected));
  });

  test('without a word is noticed by its silence', async () => {
    const { proxy, key } = await behindProxy();
    const client = impatient({ url: proxy.url, key, retry: { silenceMs: 1000 } });
    proxy.plan({ silent: true }, { silent: true });
    expect(await client.send(SENTENCE).text()).toBe(SENTENCE);
    expect(proxy.connections).toBe(3);
  });
});

describe('a request', () => {
  test('uses the connection of the one before it, even when the end of that answer arrived late', async () => {
    const final = newResponse({ request_id: 'r', is_final: true, response_kind: 'e2a.complete', body: { result: 1 } });
    let end = () => Promise.resolve<unknown>(undefined);
    const server = createServer((_, response) => {
      response.write(`${JSON.stringify(final)}\n`);
      end = () => once(response.end(), 'close');
    });
    const url = await listening(server);
    let connections = 0;
    server.on('connection', () => connections++);
    for (let count = 0; count < 5; count++) {
      expect(await impatient({ url }).send('x', { requestId: 'r' }).result()).toBe(1);
      await end();
      // The end is on its way to us, who are the same process: a few turns of its loop.
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connections).toBe(1);
  });

  test('that never arrived is sent again, under the same id', async () => {
    const { proxy, far, client } = await behindProxy();
    proxy.plan({ refuse: true });
    const answer = far.send('hello', { session: 's', requestId: 'r-1' });
    expect(await answer.text()).toBe('hello');
    expect(statuses(proxy)).toEqual(['404', '200']);
    expect(await client.history('s')).toMatchObject({ total: 1, messages: [{ request_id: 'r-1' }] });
  });

  test('that arrived while its answer did not is not done twice', async () => {
    const { proxy, far, client } = await behindProxy();
    proxy.plan({ deaf: true }, { deaf: true });
    expect(await far.send('hello', { session: 's' }).text()).toBe('hello');
    expect(await client.history('s')).toMatchObject({ total: 1 });
  });

  test('that was refused for now waits as long as Retry-After says', async () => {
    const { url, key } = await realServer();
    const client = impatient({ url, key, fetch: refusingOnce('Retry-After: 1', 503) });
    const waits: number[] = [];
    const answer = client.send('later', { onReconnect: ({ waitMs }) => waits.push(waitMs) });
    expect(await answer.text()).toBe('later');
    expect(waits).toEqual([1000]);
  });

  test('that would have to wait past the end of all patience is not kept waiting', async () => {
    const { url, key } = await realServer();
    const client = impatient({ url, key, fetch: refusingOnce('Retry-After: 3600', 429) });
    await expect(client.send('x').final()).rejects.toMatchObject({ status: 429, retryAfter: 3600 });
  });

  test('to a server that is not there is given up, with the way out', async () => {
    const { server, url, key } = await realServer();
    await server.stop({ drainMs: 0 });
    const client = impatient({ url, key, retry: { giveUpAfterMs: 200 } });
    const tries: Reconnect[] = [];
    await expect(client.send('x', { onReconnect: (event) => tries.push(event) }).final()).rejects.toMatchObject({
      code: 'unreachable',
      retryable: true,
      message: expect.stringContaining(url),
      suggestions: [expect.stringContaining('dragoman serve')],
    });
    expect(tries.length).toBeGreaterThan(3);
    await expect(client.health()).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('is given up at once when its signal aborts between two tries', async () => {
    const { server, url, key } = await realServer();
    await server.stop({ drainMs: 0 });
    const controller = new AbortController();
    const client = impatient({ url, key, retry: { firstMs: 60_000, mostMs: 60_000, giveUpAfterMs: 600_000 } });
    const onReconnect = () => controller.abort(new Error('enough'));
    const answer = client.send('x', { signal: controller.signal, onReconnect });
    await expect(answer.final()).rejects.toThrow('enough');
  });

  test('that something else than a Dragoman server answers is given up at once', async () => {
    const html = async () => new Response('<h1>Hello</h1>', { status: 404, headers: { 'Content-Type': 'text/html' } });
    const client = impatient({ url: 'http://127.0.0.1:9', key: 'k', fetch: html });
    await expect(client.send('x').final()).rejects.toMatchObject({ code: 'unexpected_answer', status: 404 });
  });

  test('does not follow its server elsewhere, nor does its key', async () => {
    const { url, key, client } = await realServer();
    const elsewhere = createServer((_, response) => response.writeHead(307, { Location: `${url}/e2a` }).end());
    const answer = impatient({ url: await listening(elsewhere), key }).send('x');
    await expect(answer.final()).rejects.toThrow('redirects elsewhere');
    await expect(client.resume(answer.requestId).final()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a server that is restarted in mid-stream', () => {
  const slowly = { params: { count: 30, everyMs: 20 } };

  test('ends the answer with E2A.INTERRUPTED, every frame before it intact', async () => {
    const { server, proxy, far, folder } = await behindProxy({ store: 'sqlite' });
    const answer = far.send(slowly, { agent: 'counter' });
    const frames: E2AResponse[] = [];
    for await (const frame of answer) {
      frames.push(frame);
      if (frame.sequence !== 3) continue;
      proxy.cut();
      await server.stop({ drainMs: 0 });
      proxy.lead((await startAt(folder, { store: 'sqlite' })).url);
    }
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
    expect(frames.at(-1)).toMatchObject({ is_final: true, body: { code: 'E2A.INTERRUPTED' } });
    await expect(answer.text()).rejects.toMatchObject({ code: 'E2A.INTERRUPTED', retryable: true });
  });

  test('by force continues under the same id, with every frame that was seen', async () => {
    const folder = await temporaryFolder();
    const first = await spawnAt(folder);
    const key = await callerAt(first.url);
    const proxy = await FaultProxy.before(first.url);
    const client = impatient({ url: proxy.url, key, retry: { giveUpAfterMs: 20_000 } });
    const answer = client.send(slowly, { agent: 'counter' });
    const frames: E2AResponse[] = [];
    for await (const frame of answer) {
      frames.push(frame);
      if (frame.sequence !== 3) continue;
      await first.kill();
      void spawnAt(folder).then(({ url }) => proxy.lead(url));
    }
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
    expect(frames.at(-1)).toMatchObject({ is_final: true, body: { code: 'E2A.INTERRUPTED' } });
    expect(frames).toEqual(await all(client.resume(answer.requestId)));
  });

  test('and has forgotten everything does not get the request a second time', async () => {
    const { server, proxy, far, folder, key } = await behindProxy();
    const reading = (async () => {
      for await (const frame of far.send(slowly, { agent: 'counter' })) {
        if (frame.sequence !== 3) continue;
        proxy.cut();
        await server.stop({ drainMs: 0 });
        proxy.lead(await forgetful(folder, key));
      }
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('frames 0 to 3'),
    });
  });
});

describe('frames that come in the wrong order', () => {
  const frame = (sequence: number, is_final = false) =>
    newResponse({
      request_id: 'r',
      sequence,
      is_final,
      response_kind: is_final ? 'e2a.complete' : 'e2a.chunk',
      body: is_final ? { result: {} } : { delta_kind: 'text', delta: `${sequence} ` },
    });
  const scripted = (...bodies: readonly E2AResponse[][]) => {
    const paths: string[] = [];
    const client = impatient({
      url: 'http://127.0.0.1:9',
      key: 'k',
      retry: { giveUpAfterMs: 200 },
      fetch: async (input) => {
        paths.push(String(input).slice('http://127.0.0.1:9/e2a'.length));
        const body = bodies[Math.min(paths.length, bodies.length) - 1] ?? [];
        const headers = { 'Content-Type': 'application/x-ndjson' };
        return new Response(body.map((item) => `${JSON.stringify(item)}\n`).join(''), { headers });
      },
    });
    return { client, paths };
  };

  test('are given once when they come twice', async () => {
    const { client } = scripted([frame(0), frame(0), frame(1), frame(0), frame(2, true), frame(3)]);
    expect((await all(client.send('x', { requestId: 'r' }))).map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  });

  test('are requested again when one is missing', async () => {
    const { client, paths } = scripted([frame(0), frame(2)], [frame(1), frame(2), frame(3, true)]);
    expect((await all(client.send('x', { requestId: 'r' }))).map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3]);
    expect(paths).toEqual(['', '/requests/r/responses?after=0']);
  });

  test('are given up when one never arrives', async () => {
    const { client } = scripted([frame(0), frame(2)], [frame(2), frame(3, true)]);
    await expect(all(client.send('x', { requestId: 'r' }))).rejects.toMatchObject({ code: 'frame_missing' });
  });

  test('or belong to another request are refused', async () => {
    const { client } = scripted([{ ...frame(0), request_id: 'other' }]);
    await expect(all(client.send('x', { requestId: 'r' }))).rejects.toMatchObject({ code: 'bad_frame' });
  });
});

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function statuses(proxy: FaultProxy): string[] {
  return [...proxy.passed.join('').matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status);
}

function refusingOnce(header: string, status: number): typeof fetch {
  let refused = false;
  return async (input, init) => {
    if (refused) return fetch(input, init);
    refused = true;
    const [name = '', value = ''] = header.split(': ');
    const problem = JSON.stringify({ code: status === 429 ? 'rate_limited' : 'busy', detail: 'Later.', status });
    return new Response(problem, { status, headers: { 'Content-Type': 'application/problem+json', [name]: value } });
  };
}

/** A server that knows the caller, but not its requests. */
async function forgetful(folder: string, secret: string): Promise<string> {
  const { engine, url } = await startAt(folder);
  await engine.callers.put({ agent_id: 'caller', permissions: { agents: ['*'] } });
  await engine.keys.create({ agentId: 'caller', role: 'agent', secret });
  return url;
}
