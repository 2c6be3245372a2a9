import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { startServer } from '../server.ts';
import { type WirePeer, websocketPeer } from './wire-peer.contract.ts';

/** A remote agent that speaks A2A messages and echoes its requests. */
const elsewhere = createServer(async (incoming, response) => {
  const { message_id, sender_id, payload } = JSON.parse(Buffer.concat(await incoming.toArray()).toString());
  const { method, parameters } = payload;
  response.end(
    JSON.stringify({
      message_id: randomUUID(),
      message_type: 'response',
      timestamp: new Date().toISOString(),
      sender_id: 'far-agent',
      recipient_id: sender_id,
      correlation_id: message_id,
      payload: { status: 'success', data: { method, parameters } },
    }),
  );
});
await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;

const folder = mkdtempSync(join(tmpdir(), 'wire-skills-test-'));
let later = 0;
const server = await startServer({
  config: {
    port: 0,
    store: 'memory',
    messages: { agent_id: 'near-server' },
    gate: { callbacks: [host] },
    agents: { 'near-agent': { driver: 'http', url: `http://${host}/`, skills: ['translate', 'rhyme'] } },
  },
  folder,
  clock: { ...systemClock, elapsed: () => systemClock.elapsed() + later },
  ids: systemIds,
  log: new SilentLog(),
});
afterAll(async () => {
  await server.stop({ drainMs: 100 });
  elsewhere.close();
  rmSync(folder, { recursive: true, force: true });
});

async function keyFor(agentId: string, agents: string[]): Promise<string> {
  await server.engine.callers.put({ agent_id: agentId, permissions: { agents } });
  return (await server.engine.keys.create({ agentId, role: 'agent' })).secret;
}
const everywhere = await keyFor('ada-agent', ['*']);
const nearby = await keyFor('bob-agent', ['near-agent']);

async function register(): Promise<void> {
  const agent_card = {
    agent_id: 'far-agent',
    name: 'Far',
    version: '1.0.0',
    description: 'Translates.',
    capabilities: ['translate', 'summarise'],
    supported_protocols: ['A2A/1.0'],
  };
  const answer = await fetch(`${server.url}/agents/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${everywhere}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_card, endpoint: `http://${host}/a2a` }),
  });
  expect(answer.status).toBe(201);
}

async function ask(peer: WirePeer, type: string, fields: JsonObject = {}): Promise<JsonObject> {
  peer.send({ a2e: '1.0', type, id: type, ts: 1, ...fields });
  return (await peer.next()) ?? {};
}

async function connected(auth_token: string): Promise<WirePeer> {
  const peer = await websocketPeer(server);
  expect(await ask(peer, 'handshake/req', { auth_token })).toMatchObject({ ok: true });
  return peer;
}

async function skillsOf(peer: WirePeer): Promise<string[]> {
  const { skills } = await ask(peer, 'skill/discover/req');
  return (skills as { name: string; source: string }[]).map(({ name, source }) => `${name} of ${source}`);
}

const NEAR = ['translate of near-agent', 'rhyme of near-agent'];

test('the skills of agents that registered are found and called by those who may reach them, while they are healthy', async () => {
  await using ada = await connected(everywhere);
  await using bob = await connected(nearby);
  const call = (peer: WirePeer, name: string) => ask(peer, 'skill/call/req', { name, arguments: { text: 'hallo' } });
  expect(await skillsOf(ada)).toEqual(NEAR);
  await register();
  expect(await skillsOf(ada)).toEqual([...NEAR, 'translate of far-agent', 'summarise of far-agent']);
  expect(await skillsOf(bob)).toEqual(NEAR);
  for (const name of ['summarise', 'far-agent__summarise']) {
    expect(await call(ada, name)).toMatchObject({
      type: 'skill/call/resp',
      data: { success: true, data: { method: 'summarise', parameters: { text: 'hallo' } } },
    });
    expect(await call(bob, name)).toMatchObject({ type: 'error', code: 'unknown_skill' });
  }
  expect(await call(ada, 'summarize')).toMatchObject({ detail: { suggestions: ['did you mean summarise?'] } });
  later = 100_000;
  expect(await skillsOf(ada)).toEqual(NEAR);
  expect(await call(ada, 'summarise')).toMatchObject({ type: 'error', code: 'unknown_skill' });
});
