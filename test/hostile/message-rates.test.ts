import { expect, test } from 'vitest';
import { frame, readFrames, upgradeHead } from '../../packages/server/src/edges/harness.contract.ts';
import { call } from '../system/call.ts';
import { RawPeer } from '../system/raw-peer.ts';
import { agentModule, System } from '../system/system.ts';

const config = {
  default_agent: 'echo',
  agents: { echo: { driver: 'module', module: agentModule('echo') } },
  wire: { port: 0 },
} as const;
const PINGS = 2_000;
const ping = (id: number) => JSON.stringify({ type: 'ping', id: String(id), ts: new Date().toISOString() });

test('a key without permissions that floods a WebSocket is read at its rate, and others are served', async () => {
  await using system = await System.start({ config: { ...config, limits: { messages_per_minute: 600 } } });
  const { api_key: flooder } = await system.caller('flooder', { permissions: {} });
  const { api_key: honest } = await system.caller('honest');
  for (const path of ['/a2e/ws', '/e2a/ws']) {
    using peer = await RawPeer.connect(system.port);
    peer.send(upgradeHead({ path, host: system.host, fields: [`X-API-Key: ${flooder}`] }));
    await peer.waitFor(/101 Switching/);
    peer.send(Buffer.concat(Array.from({ length: PINGS }, (_, id) => frame({ payload: ping(id) }))));
    const answer = await call(system.url, {
      method: 'POST',
      path: '/e2a',
      key: honest,
      json: { method: 'chat.send', params: { content: 'hello' } },
    });
    expect(answer.status).toBe(200);
    // Long enough to answer all of them, if it were not for the rate.
    for (let count = 0; count < 300; count += 1) await (await call(system.url, { path: '/health' })).text();
    expect(readFrames(peer.bytes).length).toBeLessThan(PINGS);
    expect(peer.socket.destroyed).toBe(false);
  }
});

test('a message to /a2e/send past the rate of its caller is refused with the time to wait', async () => {
  await using system = await System.start({ config: { ...config, limits: { message_bytes_per_minute: 4096 } } });
  const { api_key: key } = await system.caller('sender');
  const opened = await call(system.url, { method: 'POST', path: '/a2e/session', key });
  const { session_id } = (await opened.json()) as { session_id: string };
  const headers = { 'x-session-id': session_id, 'content-type': 'application/json' };
  const send = () =>
    call(system.url, { method: 'POST', path: '/a2e/send', key, headers, text: `"${'x'.repeat(3_000)}"` });
  const statuses = [(await send()).status, (await send()).status];
  expect(statuses).toEqual([200, 200]);
  const refused = await send();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
});
