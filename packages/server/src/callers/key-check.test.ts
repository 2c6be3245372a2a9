import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { NETWORK_TRANSPORTS } from '../edges/wire-peer.contract.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { startServer } from '../server.ts';

const ADMIN_KEY = 'an-admin-key-of-the-operator';
const folder = mkdtempSync(join(tmpdir(), 'key-check-test-'));
const server = await startServer({
  // Each test comes from its own address.
  config: {
    port: 0,
    store: 'memory',
    wire: { port: 0 },
    trusted_proxies: ['127.0.0.1'],
    messages: { unproven_per_minute: 3 },
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: new SilentLog(),
  adminKey: ADMIN_KEY,
});
afterAll(async () => {
  await server.stop({ drainMs: 100 });
  rmSync(folder, { recursive: true, force: true });
});
await server.engine.callers.put({ agent_id: 'ada-agent', permissions: {} });
const { secret } = await server.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });

const from = (address: string, key?: string) => ({
  'x-forwarded-for': address,
  ...(key !== undefined && { 'x-api-key': key }),
});
const ask = (path: string, headers: Record<string, string>) => fetch(`${server.url}${path}`, { headers });
const guess = async (address: string) => (await ask('/admin/v1/keys', from(address, 'a-guess'))).status;
const guessTooOften = async (address: string) => {
  for (let time = 0; time < 3; time++) expect(await guess(address)).toBe(401);
};

test('wrong keys from one address are limited per minute; after that it has to wait', async () => {
  await guessTooOften('192.0.2.1');
  const refused = await ask('/admin/v1/keys', from('192.0.2.1', 'a-guess'));
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await guess('192.0.2.2')).toBe(401);
});

test('wrong keys do not delay valid keys or callers without a key from the same address', async () => {
  await guessTooOften('192.0.2.5');
  expect(await guess('192.0.2.5')).toBe(429);
  expect((await ask('/api/v1/rate-limit/status', from('192.0.2.5', secret))).status).toBe(200);
  expect((await ask('/admin/v1/keys', from('192.0.2.5', ADMIN_KEY))).status).toBe(200);
  expect((await ask('/health', from('192.0.2.5'))).status).toBe(200);
});

test('all invalid keys get the same answer: unknown, revoked, or of a removed agent', async () => {
  const revoked = await server.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });
  await server.engine.keys.revoke(revoked.row.keyId);
  const orphaned = await server.engine.keys.create({ agentId: 'gone-agent', role: 'agent' });
  const never = `dgm_${'A'.repeat(43)}`;
  const answers = await Promise.all(
    [never, revoked.secret, orphaned.secret].map(async (key, index) => {
      const answer = await ask('/api/v1/rate-limit/status', from(`192.0.2.${100 + index}`, key));
      const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'date'));
      return [answer.status, headers, await answer.text()];
    }),
  );
  expect(answers[0]?.[0]).toBe(401);
  expect(answers).toEqual([answers[0], answers[0], answers[0]]);
});

test('all addresses of a /64 count as one, over HTTP and over WebSockets', async () => {
  for (const last of [1, 2]) expect(await guess(`2001:db8:1:2::${last}`)).toBe(401);
  expect(await upgrade('2001:db8:1:2:3::')).toContain('401');
  expect(await upgrade('2001:db8:1:2:4::')).toContain('429');
  expect(await guess('2001:db8:1:2:ffff::')).toBe(429);
  expect(await guess('2001:db8:1:3::')).toBe(401);
});

test('a wrong token in the handshake of the wire is a wrong key like any other', async () => {
  const handshake = async (token: string) => {
    const peer = await NETWORK_TRANSPORTS['tcp']?.(server, '');
    peer?.send({ a2e: '1.0', type: 'handshake/req', id: 'h', ts: 1, auth_token: token });
    return (await peer?.next())?.['ok'];
  };
  for (let time = 0; time < 4; time++) expect(await handshake('a-guess')).toBe(false);
  expect(await handshake(secret)).toBe(true);
});

function upgrade(address: string): Promise<string> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/e2a/ws`, { headers: from(address, 'a-guess') });
  return new Promise((resolve) => socket.on('error', ({ message }) => resolve(message)));
}
