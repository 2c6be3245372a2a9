import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { moduleAgent } from '@dragoman/core';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { parseConfig } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { startServer } from '../server.ts';
import { systemClock, systemIds } from './system-ports.ts';

/** A mailbox with an agent behind it. */
async function mailboxWith(mailbox: NonNullable<Config['mailbox']>) {
  const folder = mkdtempSync(join(tmpdir(), 'mailbox-content-test-'));
  const server = await startServer({
    config: { port: 0, store: 'memory', default_agent: 'agent', mailbox },
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
  server.engine.addAgent(
    moduleAgent('agent', async function* ({ params }) {
      return { content: String(String(params['content']).length) };
    }),
  );
  await server.engine.callers.put({ agent_id: 'ada-agent', permissions: { agents: ['*'] } });
  const { secret } = await server.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${server.url}${path}`, init);
    return { status: response.status, json: (await response.json()) as JsonObject };
  };
  return {
    ask,
    send: (message: unknown) =>
      ask('/a2a', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: JSON.stringify({ from: { name: 'Ada' }, message: { content: message } }),
      }),
  };
}

const ADMIN_KEY = 'an-admin-key-of-the-operator-0123456789';

test('content has at most 10,000 characters and 10,240 bytes by default', async () => {
  const { send, ask } = await mailboxWith({});
  expect(await send('a'.repeat(10_000))).toMatchObject({ status: 200, json: { message: { content: '10000' } } });
  expect(await send('é'.repeat(5_120))).toMatchObject({ status: 200 });
  expect(await send('a'.repeat(10_001))).toMatchObject(tooLong('10000 characters'));
  expect(await send('é'.repeat(5_121))).toMatchObject(tooLong('10240 bytes'));
  expect(await send('a'.repeat(100_000))).toMatchObject({ status: 413 });
  expect((await ask('/agent')).json).toMatchObject({ limits: { contentCharacters: 10_000, contentBytes: 10_240 } });
});

test('mailbox.max_content_characters and max_content_bytes allow more, and the body grows with them', async () => {
  const { send, ask } = await mailboxWith({ max_content_characters: 50_000, max_content_bytes: 60_000 });
  expect(await send('a'.repeat(50_000))).toMatchObject({ status: 200, json: { message: { content: '50000' } } });
  // Each is written in six characters.
  expect(await send('\u0001'.repeat(50_000))).toMatchObject({ status: 200, json: { message: { content: '50000' } } });
  expect(await send('é'.repeat(30_000))).toMatchObject({ status: 200 });
  expect(await send({ text: 'a'.repeat(40_000) })).toMatchObject({ status: 200 });
  expect(await send('a'.repeat(50_001))).toMatchObject(tooLong('50000 characters'));
  expect(await send('é'.repeat(30_001))).toMatchObject(tooLong('60000 bytes'));
  const params = { maxContentCharacters: 50_000, maxContentBytes: 60_000 };
  expect((await ask('/agent')).json).toMatchObject({ limits: { contentCharacters: 50_000, contentBytes: 60_000 } });
  expect((await ask('/.well-known/agent-card.json')).json).toMatchObject({
    capabilities: {
      extensions: expect.arrayContaining([expect.objectContaining({ params: expect.objectContaining(params) })]),
    },
  });
});

test('an accepted message above the default limit is not explained as refused', async () => {
  const { send, ask } = await mailboxWith({ max_content_characters: 20_000, max_content_bytes: 20_000 });
  const { json } = await send('a'.repeat(20_000));
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const explained = await ask(`/admin/v1/requests/${json.replyTo}`, { headers });
  expect(explained).toMatchObject({ status: 200, json: { way_in: { dropped: [], warnings: [] } } });
});

test('each limit can also be lowered by itself', async () => {
  const characters = await mailboxWith({ max_content_characters: 200 });
  expect(await characters.send('a'.repeat(200))).toMatchObject({ status: 200 });
  expect(await characters.send('a'.repeat(201))).toMatchObject(tooLong('200 characters'));
  const bytes = await mailboxWith({ max_content_bytes: 200 });
  expect(await bytes.send('é'.repeat(100))).toMatchObject({ status: 200 });
  expect(await bytes.send('é'.repeat(101))).toMatchObject(tooLong('200 bytes'));
  expect(await bytes.send(['é'.repeat(100)])).toMatchObject(tooLong('200 bytes'));
});

test.each(['max_content_characters', 'max_content_bytes'])('mailbox.%s is from 100 to a mebibyte', (name) => {
  for (const good of [100, 1_048_576]) expect(parseConfig(`mailbox: { ${name}: ${good} }`).ok).toBe(true);
  for (const bad of [99, 1_048_577, 200.5]) expect(parseConfig(`mailbox: { ${name}: ${bad} }`).ok).toBe(false);
});

function tooLong(most: string) {
  return { status: 400, json: { errors: [`Message too long (max ${most})`] } };
}
