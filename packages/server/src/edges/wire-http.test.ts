import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsonObject, SseParser } from '@dragoman/protocols';
import { afterAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { startServer } from '../server.ts';

const folder = mkdtempSync(join(tmpdir(), 'wire-http-test-'));
const server = await startServer({
  config: {
    port: 0,
    store: 'memory',
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
await server.engine.callers.put({ agent_id: 'ada-agent', permissions: { tools: ['*'] } });
const { secret } = await server.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });

/** A session after its handshake, as a page or a script would use it. */
async function session() {
  const key = { authorization: `Bearer ${secret}` };
  const opened = await fetch(`${server.url}/a2e/session`, { method: 'POST', headers: key });
  const { session_id } = (await opened.json()) as { session_id: string };
  const headers = { ...key, 'x-session-id': session_id };
  const send = (type: string, fields: JsonObject = {}) =>
    fetch(`${server.url}/a2e/send`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ a2e: '1.0', type, id: `id of ${type}`, ts: 1, ...fields }),
    });
  const stream = (last?: number | string) =>
    fetch(`${server.url}/a2e/stream`, {
      headers: { ...headers, ...(last !== undefined && { 'last-event-id': String(last) }) },
    });
  /** The numbers of what comes, up to this one. */
  const read = async (upTo: number, last?: number) => {
    const parser = new SseParser();
    const ids: number[] = [];
    for await (const chunk of (await stream(last)).body ?? []) {
      for (const event of parser.push(chunk)) if (event.ok) ids.push(Number(event.value.lastEventId));
      if (ids.at(-1) === upTo) break;
    }
    return ids;
  };
  expect((await send('handshake/req')).status).toBe(200);
  const sendLines = (body: string) =>
    fetch(`${server.url}/a2e/send`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body,
    });
  /** The messages received, up to the answer to this message. */
  const answers = async (last: string) => {
    const parser = new SseParser();
    const received: JsonObject[] = [];
    for await (const chunk of (await stream()).body ?? []) {
      for (const event of parser.push(chunk)) if (event.ok) received.push(JSON.parse(event.value.data));
      if (received.at(-1)?.['req_id'] === last) break;
    }
    return received;
  };
  return { send, sendLines, answers, stream, read };
}

const upTo = (last: number, first = 0) => Array.from({ length: last + 1 - first }, (_, index) => first + index);

test('a session is opened without a message: a handshake sent there is refused, with the right endpoint', async () => {
  const open = (body: string) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    return fetch(`${server.url}/a2e/session`, { method: 'POST', headers, body });
  };
  const refused = await open('{"a2e":"1.0","type":"handshake/req","id":"h","ts":1}');
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { code: 'invalid_message', suggestions: [expect.stringContaining('/a2e/send')] },
  ]);
  for (const body of ['', '{}', '{"agent":"ada"}', 'no JSON']) expect((await open(body)).status).toBe(200);
});

describe('a stream that is resumed', () => {
  test('continues after the event it names', async () => {
    const { send, read } = await session();
    for (let each = 1; each <= 4; each++) await send('ping');
    expect(await read(4)).toEqual(upTo(4));
    await send('ping');
    expect(await read(5, 1)).toEqual(upTo(5, 2));
    expect(await read(5, -1)).toEqual(upTo(5));
  });

  test('is refused when a later event is gone, and never continues behind a gap', async () => {
    const { send, stream, read } = await session();
    for (let each = 1; each <= 400; each++) await send('ping');
    expect(await read(400)).toHaveLength(401);
    const refused = await stream(10);
    expect(refused.status).toBe(410);
    expect(await refused.json()).toMatchObject({
      code: 'expired',
      detail: expect.stringContaining('the oldest number to resume after is 144'),
    });
    expect(await read(400, 144)).toEqual(upTo(400, 145));
  });

  test.each([['7'], ['99999999'], ['half']])('after an event that was never sent, %s, is refused', async (id) => {
    const { stream, read } = await session();
    expect(await read(0)).toEqual([0]);
    const refused = await stream(id);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining(`0 at most; got "${id}"`) });
  });
});

describe('a message to a closed session', () => {
  test('is refused, even while the last messages of the session are unread', async () => {
    const { send, stream, read } = await session();
    expect((await send('shutdown')).status).toBe(200);
    const refused = await send('tool/call/req', { tool_name: 'echo', arguments: {} });
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ code: 'not_found' });
    expect(await read(0)).toEqual([0]);
    expect((await stream()).status).toBe(404);
  });
});

describe('before the handshake a WebSocket message of more than 64 KiB', () => {
  const message = (type: string, fields: JsonObject) =>
    JSON.stringify({ a2e: '1.0', type, id: type, ts: 1, ...fields });
  const long = 'x'.repeat(300_000);

  /** The first messages received, or the close code. */
  async function firstReceived(texts: string[], headers: Record<string, string> = {}) {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/a2e/ws`, { headers });
    const received: JsonObject[] = [];
    socket.on('message', (data) => received.push(JSON.parse(data.toString())));
    await once(socket, 'open');
    const closed = once(socket, 'close');
    for (const text of texts) socket.send(text);
    const code = await Promise.race([
      closed.then(([number]) => number as number),
      expect.poll(() => received.length).toBe(texts.length),
    ]);
    socket.terminate();
    return { received, code };
  }

  test('closes the connection of a peer without a key', async () => {
    const { received, code } = await firstReceived([message('handshake/req', { auth_token: secret, agent_id: long })]);
    expect(code).toBe(1009);
    expect(received).toEqual([]);
  });

  test('is accepted from a peer that sent its key', async () => {
    const texts = [message('handshake/req', { agent_id: long })];
    const { received } = await firstReceived(texts, { authorization: `Bearer ${secret}` });
    expect(received).toMatchObject([{ type: 'handshake/resp', ok: true }]);
  });

  test('is accepted directly after a valid handshake', async () => {
    const { received } = await firstReceived([
      message('handshake/req', { auth_token: secret }),
      message('tool/call/req', { tool_name: 'echo', arguments: { long } }),
    ]);
    expect(received).toMatchObject([{ ok: true }, { data: { data: { long } } }]);
  });
});

describe('several messages at once', () => {
  const line = (id: string) => JSON.stringify({ a2e: '1.0', type: 'ping', id, ts: 1 });
  const ids = (received: readonly JsonObject[]) => received.map(({ type, req_id }) => `${type} ${req_id}`);

  test('POST /a2e/send takes every line of application/x-ndjson, in order, the last without a line break too', async () => {
    const { sendLines, answers } = await session();
    const sent = await sendLines(`${line('a')}\n\nnot json\r\n${line('b')}\n${line('c')}`);
    expect(await sent.json()).toEqual({ ok: true, messages: 4 });
    expect(ids(await answers('c')).slice(1)).toEqual(['pong a', 'error ', 'pong b', 'pong c']);
  });

  test('of more lines than a request may have none is processed', async () => {
    const { sendLines, send, answers } = await session();
    const refused = await sendLines(Array.from({ length: 1_001 }, (_, at) => line(`x${at}`)).join('\n'));
    expect([refused.status, await refused.text()]).toEqual([
      413,
      expect.stringContaining('may have at most 1000 lines; none of them was processed'),
    ]);
    await send('ping');
    expect(ids(await answers('id of ping')).slice(1)).toEqual(['pong id of ping']);
  });

  test('a WebSocket message with several lines is as many messages, and one that is written over several lines is one', async () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/a2e/ws`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    const received: JsonObject[] = [];
    socket.on('message', (data) => received.push(JSON.parse(data.toString())));
    await once(socket, 'open');
    const hello = JSON.stringify({ a2e: '1.0', type: 'handshake/req', id: 'h', ts: 1 });
    socket.send(`${hello}\n${line('a')}\r\n\n${line('b')}\n`);
    socket.send(JSON.stringify(JSON.parse(line('c')), null, 2));
    await expect.poll(() => ids(received)).toEqual(['handshake/resp h', 'pong a', 'pong b', 'pong c']);
    socket.close();
  });
});
