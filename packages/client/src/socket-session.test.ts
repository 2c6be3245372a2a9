import { type E2AResponse, isKeepalive } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { all } from '../test-support/all.ts';
import { FaultProxy } from '../test-support/fault-proxy.ts';
import { impatient, realServer, startAt } from '../test-support/real-server.ts';
import type { Reconnect } from './resumed.ts';
import type { RetryOptions } from './retry.ts';

async function connected({ store, retry }: { store?: 'sqlite'; retry?: RetryOptions } = {}) {
  const real = await realServer(store === undefined ? {} : { store });
  const proxy = await FaultProxy.before(real.url);
  const client = impatient({ url: proxy.url, key: real.key, WebSocket, ...(retry !== undefined && { retry }) });
  const socket = await client.connect();
  return { ...real, proxy, client, socket, near: real.client };
}

const hasWebSocket = 'WebSocket' in globalThis;
const sequences = (frames: readonly E2AResponse[]) => frames.map(({ sequence }) => sequence);

describe('a socket session', () => {
  test('carries many requests at once, each with its own answer', async () => {
    const { socket, proxy } = await connected();
    const texts = Array.from({ length: 50 }, (_, n) => `this is number ${n}`);
    expect(await Promise.all(texts.map((text) => socket.send(text).text()))).toEqual(texts);
    expect(proxy.connections).toBe(1);
    await socket.close();
  });

  test('gives the same frames as HTTP', async () => {
    const { socket, near } = await connected();
    const answer = socket.send('to be or not', { session: 's' });
    const frames = await all(answer);
    expect(frames).toEqual(await all(near.resume(answer.requestId)));
    expect(frames.some(isKeepalive)).toBe(false);
    expect(await all(socket.send('a b', { stream: false }))).toMatchObject([{ is_final: true, sequence: 0 }]);
    await socket.close();
  });

  test('cancels, and gives what failed as it failed', async () => {
    const { socket } = await connected();
    const forever = socket.send('go', { agent: 'forever' });
    expect(await forever.cancel()).toBe(true);
    expect(await forever.final()).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
    await expect(socket.send('tea', { agent: 'failing' }).text()).rejects.toMatchObject({ code: 'KETTLE_EMPTY' });
    await socket.close();
  });

  test('throws what was refused, as HTTP does', async () => {
    const { socket } = await connected();
    const refused = socket.send('x', { agent: 'nobody' }).final();
    await expect(refused).rejects.toMatchObject({ code: 'E2A.NO_ROUTE', retryable: false });
    const wrong = socket.send({ identity_origin: 'nobody' as 'user' }).final();
    await expect(wrong).rejects.toMatchObject({
      code: 'E2A.INVALID_MESSAGE',
      issues: [{ pointer: '/identity_origin' }],
    });
    await socket.close();
  });

  test('lets a reader leave and return, while frames continue to arrive', async () => {
    const { socket } = await connected();
    const events: Reconnect[] = [];
    const onReconnect = (event: Reconnect) => events.push(event);
    const answer = socket.send({ params: { count: 200, everyMs: 1 } }, { agent: 'counter', onReconnect });
    const seen: number[] = [];
    while (seen.length < 201) {
      let count = 0;
      for await (const frame of answer) {
        seen.push(frame.sequence);
        if (++count === 20) break;
      }
    }
    expect(seen).toEqual(Array.from({ length: 201 }, (_, n) => n));
    expect(events).toEqual([]);
    await socket.close();
  });

  test('stops waiting when the signal aborts', async () => {
    const { socket } = await connected();
    const controller = new AbortController();
    const answer = socket.send('go', { agent: 'forever', signal: controller.signal });
    const reading = (async () => {
      for await (const _ of answer) controller.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
    await answer.cancel().catch(() => {});
    await socket.close();
  });

  test('reads a frame that no WebSocket message can hold over HTTP', async () => {
    const { socket } = await connected();
    const size = 7 * 1024 * 1024;
    const frames = await all(socket.send({ params: { size } }, { agent: 'large' }));
    expect(sequences(frames)).toEqual([0, 1, 2]);
    expect(String((frames[1] as E2AResponse).body['delta']).length).toBe(size);
    await socket.close();
  });
});

describe('a connection that breaks', () => {
  test('at any byte is replaced, and every answer continues with exactly the rest', async () => {
    const { proxy, near, key } = await connected();
    const sentence = 'every frame comes once';
    const client = impatient({ url: proxy.url, key, WebSocket });
    for (let cutAfter = 200; cutAfter < 5200; cutAfter += 211) {
      proxy.plan({ cutAfter });
      const socket = await client.connect();
      const answer = socket.send(sentence);
      const frames = await all(answer);
      expect(sequences(frames)).toEqual([0, 1, 2, 3, 4]);
      expect(frames).toEqual(await all(near.resume(answer.requestId)));
      await socket.close();
    }
    expect(proxy.connections).toBeGreaterThan(40);
  });

  test('under many answers loses none', async () => {
    const { socket, proxy } = await connected();
    const answers = Array.from({ length: 20 }, () =>
      socket.send({ params: { count: 20, everyMs: 5 } }, { agent: 'counter' }),
    );
    const texts = Promise.all(answers.map((answer) => answer.text()));
    for (let cuts = 0; cuts < 4; cuts++) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      proxy.cut();
    }
    const expected = Array.from({ length: 20 }, (_, n) => `${n} `).join('');
    expect(await texts).toEqual(answers.map(() => expected));
    await socket.close();
  });

  test('before the request got through sends it again, once', async () => {
    const { socket, proxy, near } = await connected();
    proxy.cut();
    expect(await socket.send('hello', { session: 's' }).text()).toBe('hello');
    expect(await near.history('s')).toMatchObject({ total: 1 });
    await socket.close();
  });

  test('with its server finds the next one', async () => {
    const { socket, proxy, server, folder } = await connected({ store: 'sqlite' });
    const answer = socket.send({ params: { count: 30, everyMs: 20 } }, { agent: 'counter' });
    const frames: E2AResponse[] = [];
    for await (const frame of answer) {
      frames.push(frame);
      if (frame.sequence !== 3) continue;
      proxy.cut();
      await server.stop({ drainMs: 0 });
      proxy.lead((await startAt(folder, { store: 'sqlite' })).url);
    }
    expect(sequences(frames)).toEqual(frames.map((_, index) => index));
    expect(frames.at(-1)).toMatchObject({ is_final: true, body: { code: 'E2A.INTERRUPTED' } });
    expect(await socket.send('and on').text()).toBe('and on');
    await socket.close();
  });
});

describe('connect', () => {
  test('reports why it was refused, though a WebSocket does not', async () => {
    const { url, server } = await realServer();
    const wrong = impatient({ url, key: 'wrong', WebSocket });
    await expect(wrong.connect()).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
    await server.stop({ drainMs: 0 });
    const alone = impatient({ url, key: 'any', WebSocket, retry: { giveUpAfterMs: 100 } });
    await expect(alone.connect()).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('works with a WebSocket that can set no header, as that of a browser', async () => {
    const { url, key } = await realServer();
    class BrowserWebSocket extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        this.on('upgrade', ({ headers }) => answered.push(headers));
      }
    }
    const answered: object[] = [];
    const socket = await impatient({ url, key, WebSocket: BrowserWebSocket }).connect();
    expect(await socket.send('hello').text()).toBe('hello');
    // A browser takes no other answer than one of those it offered, and the key is not repeated.
    expect(answered).toMatchObject([{ 'sec-websocket-protocol': 'dragoman' }]);
    expect(JSON.stringify(answered)).not.toContain(Buffer.from(key).toString('base64url'));
    await socket.close();
  });

  test.skipIf(hasWebSocket)(
    `reports what to do without a WebSocket${hasWebSocket ? ' (this Node has one)' : ''}`,
    async () => {
      const client = impatient({ url: 'http://127.0.0.1:9', key: 'k' });
      await expect(client.connect()).rejects.toMatchObject({ code: 'unsupported', suggestions: expect.any(Array) });
    },
  );

  test('waits until the server is ready, and not forever', async () => {
    const { url, key } = await realServer();
    const proxy = await FaultProxy.before(url);
    proxy.plan({ silent: true }, { delayMs: 50 });
    const client = impatient({ url: proxy.url, key, WebSocket, retry: { silenceMs: 150 } });
    const socket = await client.connect();
    expect(await socket.send('ready').text()).toBe('ready');
    await socket.close();
  });
});

describe('close', () => {
  test('ends the connection; open answers report how to read the rest', async () => {
    const { socket, near } = await connected();
    const answer = socket.send({ params: { count: 5, everyMs: 20 } }, { agent: 'counter' });
    const reading = (async () => {
      for await (const _ of answer) await socket.close();
    })();
    await expect(reading).rejects.toMatchObject({ code: 'closed', suggestions: [expect.stringContaining('resume')] });
    expect(await near.resume(answer.requestId).text()).toBe('0 1 2 3 4 ');
    await expect(socket.send('more').final()).rejects.toMatchObject({ code: 'closed' });
    await socket.close();
  });

  test('is final also for a key that was revoked', async () => {
    const { socket, admin } = await connected();
    const answer = socket.send('go', { agent: 'forever' });
    await expect
      .poll(async () => (await admin.admin.keys.list()).filter(({ agent_id }) => agent_id === 'caller').length)
      .toBe(1);
    const reading = (async () => {
      for await (const _ of answer) {
        const key = (await admin.admin.keys.list()).find(({ agent_id }) => agent_id === 'caller');
        await admin.admin.keys.revoke(key?.key_id ?? '');
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'unauthenticated' });
    await socket.close();
  });
});
