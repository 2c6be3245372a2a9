import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@dragoman/client';
import { type Server, startServer, systemClock, systemIds } from '@dragoman/server';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { cardAt, ScriptedPeer } from '../../../core/test-support/scripted-peer.ts';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { main } from '../main.ts';

const ADMIN_KEY = 'adm_0123456789abcdef0123456789abcdef';
const folder = mkdtempSync(join(tmpdir(), 'dragoman-cli-'));
const PONG = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'pong' }] } };
let server: Server;
let peer: ScriptedPeer;

beforeAll(async () => {
  const log = new SilentLog();
  const config = { port: 0, store: 'memory' as const };
  server = await startServer({ config, folder, adminKey: ADMIN_KEY, clock: systemClock, ids: systemIds, log });
});
afterAll(async () => {
  await server.stop({ drainMs: 0 });
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  peer = await ScriptedPeer.start({ SendStreamingMessage: [{ events: [PONG] }] });
  peer.card = cardAt(peer.url, {
    name: 'Weather & Co.',
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  });
});
afterEach(() => peer[Symbol.asyncDispose]());

test('a foreign agent is shown, added without a question, and answers', async () => {
  const added = await run(['agents', 'add', '--card', card(), '--yes', '--json']);
  expect(added.code, added.notes).toBe(0);
  expect(JSON.parse(added.out)).toMatchObject({
    agent_id: 'weather-co',
    driver: 'a2a',
    card: card(),
    name: 'Weather & Co.',
    skills: ['talk'],
  });
  for (const words of [
    'Weather & Co. 7',
    `${peer.url}`,
    'A2A 1.0, JSONRPC, streaming',
    'bearer (http Bearer)',
    'talk: Talks.',
  ])
    expect(added.notes).toContain(words);
  const client = createClient({ url: server.url, key: ADMIN_KEY });
  expect((await client.admin.agents.list()).targets).toContain('weather-co');
});

test('at a terminal the operator must confirm, and "no" adds nothing', async () => {
  const refused = await run(['agents', 'add', 'confirmed', '--card', card()], async () => 'n');
  expect([refused.code, refused.notes]).toEqual([1, expect.stringContaining('confirmed was not added')]);
  const agreed = await run(['agents', 'add', 'confirmed', '--card', card()], async () => 'y');
  expect([agreed.code, agreed.notes]).toEqual([0, expect.stringContaining('added confirmed')]);
});

test('without a terminal and without --yes nothing is added, and the error has the command that does', async () => {
  const { code, notes } = await run(['agents', 'add', 'unconfirmed', '--card', card()]);
  expect(code).toBe(2);
  expect(notes).toContain(`agents add unconfirmed --card ${card()} --yes`);
  const client = createClient({ url: server.url, key: ADMIN_KEY });
  expect((await client.admin.agents.list()).targets).not.toContain('unconfirmed');
});

test('a card that cannot be used is reported, and nothing is added', async () => {
  peer.card = cardAt(peer.url, { supportedInterfaces: [] });
  const { code, notes } = await run(['agents', 'add', 'unusable', '--card', card(), '--yes']);
  expect([code, notes]).toEqual([1, expect.stringContaining('must list a JSONRPC or HTTP+JSON interface')]);
});

test('a card at a host that does not answer is reported as that, not as a server that does not', async () => {
  await peer[Symbol.asyncDispose]();
  const { code, notes } = await run(['agents', 'add', 'nowhere', '--card', card(), '--yes']);
  expect([code, notes]).toEqual([
    1,
    expect.stringContaining('The card cannot be read: The remote host is unreachable'),
  ]);
});

test('a changed card is accepted by its agent, and only once', async () => {
  await run(['agents', 'add', 'changing', '--card', card(), '--yes']);
  // Once for the operator to see, and once to be pinned.
  await expect.poll(() => peer.methods).toEqual(['card', 'card']);
  peer.card = cardAt(peer.url, { description: 'Now it pays.' });
  // The same definition again opens the agent again, and so reads its card.
  await run(['agents', 'add', 'changing', '--card', card(), '--yes']);
  const client = createClient({ url: server.url, key: ADMIN_KEY });
  await expect.poll(async () => (await client.admin.agents.heldCards()).held).toEqual(['changing']);
  expect((await run(['agents', 'accept', 'changing'])).out).toBe('accepted the card of changing\n');
  expect((await client.admin.agents.heldCards()).held).toEqual([]);
  const again = await run(['agents', 'accept', 'changing']);
  expect([again.code, again.notes]).toEqual([
    1,
    expect.stringContaining('no changed card of "changing" waits for approval'),
  ]);
});

function card(): string {
  return `${peer.url}/.well-known/agent-card.json`;
}

async function run(words: readonly string[], ask?: (prompt: string) => Promise<string>) {
  const surroundings = new FakeSurroundings({
    folder,
    environment: { DRAGOMAN_ADMIN_KEY: ADMIN_KEY },
  });
  if (ask !== undefined) Object.assign(surroundings.terminal, { ask });
  const code = await main([...words, '--url', server.url], surroundings);
  const { out, notes } = surroundings;
  return { code, out, notes };
}
