import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { startServer } from '../server.ts';
import { NETWORK_TRANSPORTS, type WirePeer } from './wire-peer.contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'wire-places-test-'));
const server = await startServer({
  // One caller may have two of the eight places.
  config: { port: 0, store: 'memory', wire: { port: 0, socket: join(folder, 'wire.sock'), max_connections: 8 } },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: new SilentLog(),
});
afterAll(async () => {
  await server.stop({ drainMs: 100 });
  rmSync(folder, { recursive: true, force: true });
});

const [ada, bob] = [await keyFor('ada-agent'), await keyFor('bob-agent')];

async function keyFor(agentId: string): Promise<string> {
  await server.engine.callers.put({ agent_id: agentId, permissions: {} });
  return (await server.engine.keys.create({ agentId, role: 'agent' })).secret;
}

/** The answer of a connection to a handshake, which is its first message. */
async function shakeHands(peer: WirePeer, auth_token: string): Promise<JsonObject | undefined> {
  peer.send({ a2e: '1.0', type: 'handshake/req', id: 'h', ts: 1, auth_token });
  return peer.next();
}

const BUSY = { type: 'error', code: 'busy', retryable: true };

test.each(Object.entries(NETWORK_TRANSPORTS))(
  'a caller with its share of the connections is busy, and others come in: %s',
  async (name, open) => {
    const mine = [await open(server, ada), await open(server, ada)];
    for (const peer of mine) expect(await shakeHands(peer, ada)).toMatchObject({ ok: true });
    if (name === 'http') {
      const refused = await fetch(`${server.url}/a2e/session`, { method: 'POST', headers: { 'x-api-key': ada } });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await refused.json()).toMatchObject({ code: 'busy' });
    } else {
      const third = await open(server, ada);
      expect(await shakeHands(third, ada)).toMatchObject({ ...BUSY, req_id: 'h' });
      expect(await third.next()).toBeUndefined();
    }
    const other = await open(server, bob);
    expect(await shakeHands(other, bob)).toMatchObject({ ok: true });
    await allGone([...mine, other]);
    const again = await open(server, ada);
    expect(await shakeHands(again, ada)).toMatchObject({ ok: true });
    await allGone([again]);
  },
);

test.each(['tcp', 'unix', 'websocket'] as const)(
  'anonymous peers of one address share its places, and the refusal says so: %s',
  async (name) => {
    const { [name]: open } = NETWORK_TRANSPORTS;
    if (open === undefined) throw new Error(`${name} is no transport`);
    const silent = [await open(server, ''), await open(server, '')];
    await expect.poll(() => server.wire.host.connections).toBe(2);
    const third = await open(server, '');
    expect(await third.next()).toMatchObject({ ...BUSY, req_id: '' });
    expect(await third.next()).toBeUndefined();
    for (const peer of silent) expect(await shakeHands(peer, ada)).toMatchObject({ ok: true });
    const other = await open(server, '');
    expect(await shakeHands(other, bob)).toMatchObject({ ok: true });
    await allGone([...silent, other]);
  },
);

test('over a WebSocket whose upgrade had a key the caller is known from the first moment', async () => {
  const dial = () =>
    new WebSocket(`${server.url.replace('http', 'ws')}/a2e/ws`, { headers: { authorization: `Bearer ${ada}` } });
  const mine = [dial(), dial()];
  await expect.poll(() => server.wire.host.connections).toBe(2);
  const [code, reason] = await once(dial(), 'close');
  expect([code, String(reason)]).toEqual([1013, 'busy']);
  for (const socket of mine) socket.terminate();
  await expect.poll(() => server.wire.host.connections).toBe(0);
});

async function allGone(peers: readonly WirePeer[]): Promise<void> {
  for (const peer of peers) peer.send({ a2e: '1.0', type: 'shutdown', id: 's', ts: 1, timeout: 0 });
  await expect.poll(() => server.wire.host.connections).toBe(0);
  for (const peer of peers) peer.end();
}
