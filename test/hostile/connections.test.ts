import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { head } from '../../packages/server/src/edges/harness.contract.ts';
import { call } from '../system/call.ts';
import { exchange, RawPeer } from '../system/raw-peer.ts';
import { agentModule, System } from '../system/system.ts';

const OPEN_FILES = 256;
const system = await System.start({
  openFiles: OPEN_FILES,
  config: {
    default_agent: 'echo',
    agents: { echo: { driver: 'module', module: agentModule('echo') } },
    messages: { port: 0 },
    wire: { port: 0 },
    limits: { identify_ms: 60_000, headers_ms: 60_000, request_ms: 60_000, requests_per_minute: 1_000_000 },
  },
});
const { api_key: KEY } = await system.caller('honest');
const ports = [system.port, ...[system.wireUrl, system.messagesUrl].map((url) => Number(new URL(url).port))];
const held: Socket[] = [];

/** Connects and sends nothing; resolves when it is connected or refused. */
function hold(port: number, localAddress: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    held.push(socket);
    socket.on('error', () => resolve()).on('connect', () => resolve());
    socket.resume();
  });
}

function letGo(): void {
  for (const socket of held.splice(0)) socket.destroy();
}

/** A durable request on its own connection. */
async function isServed(): Promise<boolean> {
  const json = { method: 'chat.send', params: { content: 'hello' } };
  try {
    const answer = await call(system.url, { method: 'POST', path: '/e2a', key: KEY, json });
    return answer.status === 200;
  } catch {
    return false;
  }
}

/** The same from another address than the usual one. */
async function healthFrom(localAddress: string): Promise<string> {
  const socket = connect({ port: system.port, host: '127.0.0.1', localAddress });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.write(head({ path: '/health', host: system.host, fields: ['Connection: close'] }));
  await new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => resolve()));
  return received;
}

afterAll(async () => {
  letGo();
  await system[Symbol.asyncDispose]();
});

test('the connection limit is lowered at start to what the process may open, and the log reports it', () => {
  expect(system.log).toContain('"connections":192');
  expect(system.log).toContain('ulimit -n');
});

describe('one address that holds hundreds of connections', () => {
  beforeAll(async () => {
    for (let count = 0; count < 300; count += 1) await hold(system.port, '127.0.0.1');
  });

  test('is refused with 503 beyond its quarter', async () => {
    // While many refusals are unread, further connections are dropped without one.
    const refusal = () => exchange(system.port, head({ path: '/health', host: system.host }));
    await expect.poll(refusal).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n/);
  });

  test('leaves the rest to others', async () => {
    expect(await healthFrom('127.0.0.2')).toMatch(/^HTTP\/1.1 200 /);
  });

  test('is served again when they are gone', async () => {
    letGo();
    await expect.poll(isServed).toBe(true);
  });
});

describe('many addresses that hold every connection at every port', () => {
  test('never end the process, leave descriptors for the store, and honest requests work after them', async () => {
    using peer = await RawPeer.connect(system.port);
    const body = JSON.stringify({ method: 'chat.send', params: { content: 'hello' } });
    const fields = [`X-API-Key: ${KEY}`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
    peer.send(head({ method: 'POST', path: '/e2a', host: system.host, fields }) + body);
    await peer.waitFor(/200 OK/);
    const answersBefore = peer.text.split('HTTP/1.1 200').length;
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < 600; count += 1) {
        await hold(ports[count % ports.length] ?? 0, `127.0.0.${3 + (count % 60)}`);
      }
      await expect.poll(() => readdirSync(`/proc/${system.pid}/fd`).length).toBeLessThan(OPEN_FILES);
      if (round === 0) {
        // A durable request on the connection that was there before.
        peer.send(head({ method: 'POST', path: '/e2a', host: system.host, fields }) + body);
        await expect.poll(() => peer.text.split('HTTP/1.1 200').length).toBe(answersBefore + 1);
      }
      letGo();
      await expect.poll(isServed).toBe(true);
    }
    expect(system.pid).toBeGreaterThan(0);
    expect(system.log).not.toMatch(/EMFILE|ENFILE/);
  });
});
