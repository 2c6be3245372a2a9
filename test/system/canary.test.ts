import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { listening } from '../../packages/core/test-support/ports.ts';
import { call } from './call.ts';
import { canaryScan, codingsOf } from './canary-scan.ts';
import { System } from './system.ts';

const SECRET = 'canary/8f3+"a&7\\c=9d~1b?Qz-4e';
const received: string[] = [];
const answers: Record<string, string> = {};
/** Lets an agent answer that waits for it. */
const releases: (() => void)[] = [];

/** An agent that gives back everything it was sent, in every coding. */
const echo = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const { content } = JSON.parse(body).params;
  received.push(String(request.headers['authorization']), String(request.headers['x-api-key']));
  answer(content, request, response);
});
const other = createServer((request, response) => {
  received.push(`other ${JSON.stringify(request.headers)}`);
  response.end();
});
const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
sockets.on('connection', (socket) => {
  socket.send(JSON.stringify({ type: 'event', event: 'connection.ack', payload: { status: 'ready' } }));
  socket.on('message', async (data) => {
    const { request_id, auth, params } = JSON.parse(data.toString());
    received.push(String(auth?.bearer_token), String(auth?.extra_headers?.['x-api-key']));
    const result = { echo: auth, codings: codingsOf(auth?.bearer_token ?? '') };
    if (params.content === 'when released') await new Promise<void>((resolve) => releases.push(resolve));
    socket.send(JSON.stringify({ request_id, response_kind: 'e2a.complete', is_final: true, body: { result } }));
  });
});
let system: System;
let key = '';
/** Those the secrets are bound to. */
const hosts: string[] = [];

beforeAll(async () => {
  const ports = [await listening(echo), await listening(other), (sockets.address() as AddressInfo).port];
  system = await System.start({
    config: {
      agents: {
        echo: { driver: 'http', url: `http://127.0.0.1:${ports[0]}/e2a` },
        other: { driver: 'http', url: `http://127.0.0.1:${ports[1]}/e2a` },
        socket: { driver: 'e2a-ws', url: `ws://127.0.0.1:${ports[2]}/` },
      },
    },
  });
  hosts.push(`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[2]}`);
  for (const [id, type] of [
    ['token', 'bearer-token'],
    ['key', 'api-key'],
  ]) {
    const path = `/admin/v1/credentials/${id}`;
    const put = await call(system.url, {
      method: 'PUT',
      path,
      key: system.adminKey,
      json: { type, value: SECRET, hosts },
    });
    expect(put.status).toBe(201);
    answers[`put ${id}`] = await put.text();
  }
  const permissions = { agents: ['*'], credentials: ['token', 'key', 'passing', 'never-was'] };
  key = (await system.caller('ada', { permissions })).api_key;
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const server of [echo, other]) server.closeAllConnections();
  for (const server of [echo, other, sockets]) server.close();
});

describe('a secret that an envelope names', () => {
  test.each(['json', 'gzip', 'br', 'headers', 'redirect', 'failure', 'slowly'])(
    'reaches the agent and does not come back: %s',
    async (content) => {
      received.length = 0;
      await ask('echo', content, key);
      expect(received).toEqual([`Bearer ${SECRET}`, SECRET]);
      expect(canaryScan({ secret: SECRET, seen: answers })).toEqual([]);
    },
  );

  test('is sent to an agent behind a socket in its own message, and does not come back', async () => {
    received.length = 0;
    const text = await ask('socket', 'x', key);
    expect(received).toEqual([SECRET, SECRET]);
    expect(text).toContain('[redacted]');
    expect(canaryScan({ secret: SECRET, seen: { text } })).toEqual([]);
  });

  test.each(['PUT', 'DELETE'])(
    'does not come back after a %s of it, though the agent had it before',
    async (method) => {
      const [old, next] = [[...SECRET].reverse().join(''), 'the-next-secret'];
      const change = (value?: string) =>
        call(system.url, {
          method: value === undefined ? 'DELETE' : 'PUT',
          path: '/admin/v1/credentials/passing',
          key: system.adminKey,
          ...(value !== undefined && { json: { type: 'api-key', value, hosts } }),
        });
      await change(old);
      received.length = 0;
      const asking = ask('socket', 'when released', key, { credential_ref: 'passing', api_key_ref: 'passing' });
      await expect.poll(() => releases.length).toBe(1);
      expect(received).toEqual([old, old]);
      expect((await change(method === 'PUT' ? next : undefined)).status).toBe(200);
      releases.pop()?.();
      const text = await asking;
      expect(text).toContain('[redacted]');
      expect(canaryScan({ secret: old, seen: { text } })).toEqual([]);
      received.length = 0;
      const after = await ask('socket', 'x', key, { credential_ref: 'passing', api_key_ref: 'passing' });
      expect(received).toEqual(method === 'PUT' ? [next, next] : []);
      expect(after).toContain(method === 'PUT' ? '[redacted]' : 'E2A.FORBIDDEN');
    },
  );

  test('goes to no other host, and to no caller without permission; both look like a missing credential', async () => {
    received.length = 0;
    const { api_key: bobsKey } = await system.caller('bob', { permissions: { agents: ['*'], credentials: [] } });
    const refusals = [
      await ask('other', 'x', key),
      await ask('echo', 'x', bobsKey),
      await ask('echo', 'x', key, { credential_ref: 'never-was' }),
      await ask('socket', 'x', bobsKey),
    ];
    const bodies = refusals.map((text) => JSON.parse(text).body);
    expect(bodies[0]).toMatchObject({ code: 'E2A.FORBIDDEN' });
    expect(bodies[2].message).toBe(bodies[0].message.replaceAll('token', 'never-was'));
    expect([bodies[1].message, bodies[3].message]).toEqual([bodies[0].message, bodies[0].message]);
    expect(received).toEqual([]);
  });

  test('is on record for each use, and for each attempt with a forbidden host or caller', async () => {
    const recorded = async (id: string) => {
      const path = `/admin/v1/credentials/${id}`;
      return JSON.parse(await (await call(system.url, { path, key: system.adminKey })).text());
    };
    const used = async (id: string, outcome: string) =>
      (await recorded(id)).uses.filter((use: { outcome: string }) => use.outcome === outcome);
    const refused = [
      { caller: 'bob', host: hosts[1] },
      { caller: 'bob', host: hosts[0] },
      { caller: 'ada', host: `127.0.0.1:${(other.address() as AddressInfo).port}` },
    ];
    await expect.poll(() => used('token', 'refused')).toMatchObject(refused);
    // The other one that the same envelopes named.
    await expect.poll(() => used('key', 'refused')).toMatchObject(refused.slice(0, 2));
    const { uses, ...rest } = await recorded('token');
    expect(rest).toMatchObject({ version: expect.any(Number) });
    expect(rest).not.toHaveProperty('value');
    expect(await used('token', 'released')).toHaveLength(8);
    expect((await used('token', 'released'))[0]).toMatchObject({ caller: 'ada', version: rest.version });
    expect(uses[0].purpose).toMatch(/^request /);
  });
});

test('no byte of database, log, answer or process holds it, also after a crash and with another key', async () => {
  for (const path of ['/admin/v1/credentials', '/admin/v1/credentials/key', '/openapi.json', '/metrics']) {
    answers[path] = await (await call(system.url, { path, key: system.adminKey })).text();
  }
  const rotated = await call(system.url, {
    method: 'POST',
    path: '/admin/v1/vault/rotate',
    key: system.adminKey,
    json: {},
  });
  expect(rotated.status).toBe(200);
  const scan = async () => {
    const seen = { ...answers, log: system.log };
    return canaryScan({ secret: SECRET, kept: await system.kept(), seen, pids: [system.pid] });
  };
  expect(await scan()).toEqual([]);
  await system.kill();
  await system.start();
  received.length = 0;
  await ask('echo', 'json', key);
  expect(received[0]).toBe(`Bearer ${SECRET}`);
  expect(await scan()).toEqual([]);
  // The scan finds what is there.
  const planted = Buffer.from(`ab${SECRET}`).toString('base64');
  expect(canaryScan({ secret: SECRET, seen: { planted } })).toContain('planted: base64 at 2');
});

let requests = 0;

/** Calls an agent with both references, and keeps the answer. */
async function ask(agent: string, content: string, as: string, auth: object = {}): Promise<string> {
  requests += 1;
  const json = {
    request_id: `r${requests}`,
    method: 'chat.send',
    params: { content },
    auth: { credential_ref: 'token', api_key_ref: 'key', ...auth },
  };
  const received = await call(system.url, { method: 'POST', path: `/e2a/agents/${agent}`, key: as, json });
  const text = await received.text();
  answers[`${agent} ${content} ${requests}`] = `${JSON.stringify(received.headers)}${text}`;
  return text;
}

function answer(content: string, { headers }: IncomingMessage, response: ServerResponse): void {
  const secret = String(headers['x-api-key']);
  const result = { headers, codings: codingsOf(secret), basic: Buffer.from(`user:${secret}`).toString('base64') };
  const frame = JSON.stringify({ response_kind: 'e2a.complete', is_final: true, body: { result } });
  const type = { 'content-type': 'application/json' };
  const ways: Record<string, () => void> = {
    json: () => response.writeHead(200, type).end(frame),
    gzip: () => response.writeHead(200, { ...type, 'content-encoding': 'gzip' }).end(gzipSync(frame)),
    br: () => response.writeHead(200, { ...type, 'content-encoding': 'br' }).end(brotliCompressSync(frame)),
    headers: () =>
      response.writeHead(200, { 'content-type': `text/${encodeURIComponent(secret)}`, 'x-echo': secret }).end(),
    redirect: () => response.writeHead(302, { location: `/?token=${encodeURIComponent(secret)}` }).end(frame),
    failure: () => response.writeHead(500, { 'x-echo': secret }).end(`no: Bearer ${secret}, ${frame}`),
    slowly: async () => {
      response.writeHead(200, type);
      for (const byte of Buffer.from(frame)) {
        response.write(Uint8Array.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    },
  };
  ways[content]?.();
}
