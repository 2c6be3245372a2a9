import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { loadEngine } from '../../packages/core/src/store/sqlite-engine.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { allFrames, call, type HttpAnswer } from './call.ts';
import { RawPeer } from './raw-peer.ts';
import { SocketClient } from './socket-client.ts';
import { agentModule, System } from './system.ts';

const system = await System.start({
  needsFolder: 'another program locks the database file',
  config: {
    default_agent: 'echo',
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      slow: { driver: 'module', module: agentModule('load'), max_parallel: 64 },
      single: { driver: 'module', module: agentModule('load'), max_parallel: 1 },
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: KEY } = await system.caller('caller-agent');

describe('while another program holds the database', { timeout: 15_000 }, () => {
  test('new work is refused with 503 and Retry-After, stored work can be read, and service resumes by itself', async () => {
    await allFrames(await send({ request_id: 'before' }));
    const [refused, known] = await holding(() => Promise.all([send({ request_id: 'refused' }), read('before')]));
    expect(known.status).toBe(200);
    expect((await read('refused')).status).toBe(404);
    expect((await send({ request_id: 'refused' })).status).toBe(200);
    expect(await refused.json()).toMatchObject({ code: 'store_unavailable' });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  test('it is refused by the WebSocket too, so that no client waits for an answer that never arrives', async () => {
    const socket = await SocketClient.open(system.url, KEY);
    const [frame] = await holding(async () => {
      // Sent only now that the database is held: earlier, it could still be answered.
      const refusal = socket.ask({ request_id: 'refused-by-socket', method: 'chat.send', params: { content: 'x' } });
      refusal.catch(() => {});
      return Promise.race([refusal, delay(8_000, ['"nothing came"'])]);
    });
    socket.close();
    expect(JSON.parse(frame ?? '')).toMatchObject({ is_final: true, body: { code: 'E2A.UNAVAILABLE' } });
  });

  test('an answer that cannot be recorded waits, loses nothing, and ends with one final frame', async () => {
    // The second frame fails while the agent is busy with the third, and no caller waits for it.
    const params = { content: 'a b c', pause_ms: 2_600 };
    const stream = await send({ request_id: 'unrecorded', agent_ref: { id: 'slow' }, is_stream: true, params });
    const received: string[] = [];
    const ended = (async () => {
      for await (const frame of stream.frames()) received.push(frame);
    })();
    const { pid } = system;
    await expect.poll(() => received.length).toBe(1);
    await holding(() => delay(6_000));
    await ended;
    expect(system.pid, system.log.slice(-1500)).toBe(pid);
    const frames = received.map((text) => JSON.parse(text));
    expect(frames.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3]);
    expect(frames.map(({ is_final }) => is_final)).toEqual([false, false, false, true]);
    expect(frames.at(-1)).toMatchObject({ status: 'succeeded' });

    await system.kill();
    await system.start();
    expect(await allFrames(await read('unrecorded', 'application/x-ndjson'))).toEqual(received);
  });
});

describe('stopping', () => {
  test('ends with 0 when its patience does, also for what was being accepted just then', async () => {
    await system.kill();
    await system.start({ DRAGOMAN_TEST_DRAIN_MS: '1' });
    const params = { content: 'word '.repeat(5_000).trim(), pause_ms: 1 };
    const ids = Array.from({ length: 5 }, (_, index) => `stopped-${index}`);
    await holding(async () => {
      for (const id of ids)
        send({ request_id: id, agent_ref: { id: 'slow' }, is_stream: true, params }).catch(() => {});
      await delay(300);
      system.signal('SIGTERM');
      // It no longer accepts requests: it is stopping.
      while (await isListening()) await delay(10);
    });
    expect(await system.exited, system.log.slice(-1500)).toEqual({ code: 0, signal: null });

    await system.start();
    for (const id of ids) {
      const answer = await read(id, 'application/x-ndjson');
      if (answer.status === 404) continue;
      const final = JSON.parse((await allFrames(answer)).at(-1) ?? '{}');
      expect(final).toMatchObject({ is_final: true, body: { code: 'E2A.INTERRUPTED' } });
    }
  });

  test('sends every reader the end of its answer, over every transport', async () => {
    await system.kill();
    await system.start({ DRAGOMAN_TEST_DRAIN_MS: '300' });
    const refusal = (request_id: string) => ({
      request_id,
      method: 'chat.send',
      agent_ref: { id: 'slow' },
      is_stream: true,
      params: { content: 'word '.repeat(5_000).trim(), pause_ms: 10 },
    });
    const socket = await SocketClient.open(system.url, KEY);
    const readers = [allFrames(await send(refusal('read-by-http'))), socket.ask(refusal('read-by-socket'))];
    await delay(200);
    system.signal('SIGTERM');
    for (const frames of await Promise.all(readers)) {
      expect(JSON.parse(frames.at(-1) ?? '{}')).toMatchObject({ is_final: true, body: { code: 'E2A.INTERRUPTED' } });
    }
    expect(await socket.closed).toBe(1001);
    expect(await system.exited).toEqual({ code: 0, signal: null });
    await system.start();
  });

  test('leaves waiting requests to the next start: no reader receives an end, and they are answered then', async () => {
    await system.kill();
    await system.start({ DRAGOMAN_TEST_DRAIN_MS: '300' });
    const params = { content: 'word '.repeat(5_000).trim(), pause_ms: 10 };
    const busy = { method: 'chat.send', agent_ref: { id: 'single' } };
    const first = send({ ...busy, request_id: 'at-work', is_stream: true, params });
    await first;
    const waits = { ...busy, params: { content: 'at last' } };
    const socket = await SocketClient.open(system.url, KEY);
    const overHttp = send({ ...waits, request_id: 'waits-by-http' });
    const overSocket = socket.ask({ ...waits, request_id: 'waits-by-socket' }).catch(String);
    await delay(200);
    system.signal('SIGTERM');
    const refused = await overHttp;
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(await overSocket).toBe('Error: the connection closed before the answer was whole');
    expect(await system.exited).toEqual({ code: 0, signal: null });

    await system.start();
    for (const id of ['waits-by-http', 'waits-by-socket']) {
      const frames = await allFrames(await read(id, 'application/x-ndjson'));
      expect(frames.map((text) => JSON.parse(text).body)).toEqual([{ result: { echoed: 'at last' } }]);
    }
  });
});

function isListening(): Promise<boolean> {
  return RawPeer.connect(system.port).then(
    (peer) => {
      peer[Symbol.dispose]();
      return true;
    },
    () => false,
  );
}

/** Runs this while the test holds the lock that every write needs. */
async function holding<T>(act: () => Promise<T>): Promise<T> {
  const database = (await loadEngine()).open(join(system.data, 'dragoman.db'));
  database.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  try {
    return await act();
  } finally {
    database.exec('ROLLBACK');
    database.close();
  }
}

function send(envelope: JsonObject): Promise<HttpAnswer> {
  const accept = envelope['is_stream'] === true ? 'application/x-ndjson' : 'application/json';
  const json = { method: 'chat.send', params: { content: 'hello' }, ...envelope };
  return call(system.url, { method: 'POST', path: '/e2a', key: KEY, accept, json });
}

function read(requestId: string, accept = 'application/json'): Promise<HttpAnswer> {
  return call(system.url, { path: `/e2a/requests/${requestId}/responses`, key: KEY, accept });
}
