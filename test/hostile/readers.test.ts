import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { allFrames, call } from '../system/call.ts';
import { Caller, expectOrdered, fresh, read } from '../system/caller.ts';
import { moduleAgent, System } from '../system/system.ts';

// A heap of 256 MB, and answers of 8 MB that a thousand connections ask for and never read.
const system = System.create({ config: { default_agent: 'flood', agents: { flood: moduleAgent('flood') } } });
await system.start({ NODE_OPTIONS: '--max-old-space-size=256' });
afterAll(() => system[Symbol.asyncDispose]());
const mallory = new Caller(system, (await system.caller('mallory-agent')).api_key);
const ada = new Caller(system, (await system.caller('ada-agent')).api_key);
const NDJSON = 'application/x-ndjson';

test.each([
  ['many frames', { frames: 800, bytes: 10_000, pause_ms: 0 }],
  ['two long frames', { frames: 2, bytes: 4_000_000, pause_ms: 0 }],
])(
  'a thousand readers that never read an answer of %s stop neither the server nor an honest reader',
  { timeout: 180_000 },
  async (_, params) => {
    const [own, hers] = [await requestOf(mallory, params), await requestOf(ada, params)];
    const [whole] = await Promise.all([hers.frames, own.frames]);
    using idle = new IdleReaders();
    for (let number = 0; number < 400; number += 1) {
      idle.http(`/e2a/requests/${own.id}/responses`, 'text/event-stream');
      idle.http(`/e2a/requests/${own.id}/responses`, NDJSON);
      if (number % 2 === 0) idle.webSocket(own.id);
    }
    await idle.started;
    expect(await ada.resume(hers.id)).toEqual(whole);
    expect(await resumedOverSocket(ada, hers.id)).toEqual(whole);
    expectOrdered(whole.map(read));
    expect((await call(system.url, { path: '/health' })).status).toBe(200);
  },
);

test('an answer that is resumed over a WebSocket counts against what its caller may have open', async () => {
  await using small = await System.start({
    config: { default_agent: 'held', agents: { held: moduleAgent('held') }, limits: { connections_per_agent: 5 } },
  });
  const caller = new Caller(small, (await small.caller('ada-agent')).api_key);
  const held = await caller.post({ request_id: 'held', is_stream: true, params: {} }, { accept: NDJSON });
  const socket = await caller.socket();
  const resume = (): string => {
    const request_id = fresh();
    socket.send({ request_id, method: 'chat.resume', params: { request_id: 'held', after: 0 } });
    return request_id;
  };
  // The request and the connection have two of the five places.
  for (let number = 0; number < 3; number += 1) resume();
  const [refused] = await allOf(socket.frames(resume()));
  expect(read(refused)).toMatchObject({ is_final: true, body: { code: 'E2A.RATE_LIMITED' } });
  held.destroy();
  socket.close();
});

describe('an answer of several MiB arrives whole and in order', () => {
  const speeds = { fast: 0, slow: 2, slower: 10 };

  test('for readers of every speed that join at any point, while it is given and afterwards', async () => {
    const count = 300;
    const id = fresh();
    const params = { frames: count, bytes: 20_000, pause_ms: 2 };
    const first = (await ada.post({ request_id: id, is_stream: true, params }, { accept: NDJSON })).frames();
    const readers: Promise<{ readonly after: number; readonly frames: readonly string[] }>[] = [];
    const join = (after: number) => {
      for (const pauseMs of Object.values(speeds)) {
        for (const accept of [NDJSON, 'text/event-stream']) readers.push(readSlowly(id, { after, accept, pauseMs }));
      }
    };
    join(-1);
    const seen: string[] = [];
    for await (const text of first) {
      const { sequence } = read(text);
      seen.push(text);
      if (sequence % 75 === 50) {
        join(-1);
        join(sequence - 40);
        join(sequence);
      }
    }
    expectOrdered(seen.map(read));
    expect(seen).toHaveLength(count + 1);
    join(-1);
    join(count - 5);
    for (const { after, frames } of await Promise.all(readers)) expect(frames).toEqual(seen.slice(after + 1));
    expect(await resumedOverSocket(ada, id)).toEqual(seen);
  });

  /** Rests after every tenth frame, so that the server has more for it than fits into its socket. */
  async function readSlowly(
    id: string,
    { after, accept, pauseMs }: { after: number; accept: string; pauseMs: number },
  ) {
    const answer = await ada.get(`${id}/responses?after=${after}`, accept);
    const frames: string[] = [];
    for await (const text of answer.frames()) {
      frames.push(text);
      if (pauseMs > 0 && frames.length % 10 === 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return { after, frames };
  }
});

async function requestOf(caller: Caller, params: { frames: number; bytes: number; pause_ms: number }) {
  const id = fresh();
  const answer = await caller.post({ request_id: id, is_stream: true, params }, { accept: NDJSON });
  return { id, frames: allFrames(answer) };
}

async function resumedOverSocket(caller: Caller, id: string): Promise<string[]> {
  const socket = await caller.socket();
  socket.send({ request_id: fresh(), method: 'chat.resume', params: { request_id: id } });
  const frames = await allOf(socket.frames(id));
  socket.close();
  return frames;
}

async function allOf(texts: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const text of texts) found.push(text);
  return found;
}

/** Connections that ask for an answer and then read nothing. */
class IdleReaders implements Disposable {
  readonly #sockets: Socket[] = [];
  readonly #webSockets: WebSocket[] = [];
  readonly #started: Promise<void>[] = [];

  /** Resolves when each has its first bytes or was dropped. */
  get started(): Promise<unknown> {
    return Promise.all(this.#started);
  }

  http(path: string, accept: string): void {
    const socket = connect({ port: system.port, host: '127.0.0.1' });
    this.#sockets.push(socket);
    const lines = [`GET ${path} HTTP/1.1`, `Host: ${system.host}`, `Authorization: Bearer ${mallory.key}`];
    socket.write([...lines, `Accept: ${accept}`, '', ''].join('\r\n'));
    this.#started.push(firstOf(socket, ['readable', 'error', 'close']));
  }

  webSocket(requestId: string): void {
    const headers = { authorization: `Bearer ${mallory.key}` };
    const socket = new WebSocket(`${system.url.replace('http', 'ws')}/e2a/ws`, { headers });
    this.#webSockets.push(socket);
    socket.once('message', () => {
      socket.pause();
      const resume = { request_id: fresh(), method: 'chat.resume', params: { request_id: requestId } };
      socket.send(JSON.stringify(resume));
    });
    this.#started.push(firstOf(socket, ['message', 'error', 'close']));
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const socket of this.#webSockets) socket.terminate();
  }
}

function firstOf(emitter: NodeJS.EventEmitter, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    // Stays after the first: an error without a listener would end the test.
    for (const event of events) emitter.on(event, () => resolve());
  });
}
