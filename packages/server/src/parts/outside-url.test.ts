import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import type { Config } from '../config/config-schema.ts';
import { startServer } from '../server.ts';
import { systemClock, systemIds } from './system-ports.ts';

const folder = mkdtempSync(join(tmpdir(), 'outside-url-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The endpoint of A2A messages on the card of a server. */
async function messagesEndpoint(config: Config): Promise<unknown> {
  const server = await startServer({
    config: { port: 0, store: 'memory', ...config },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: new SilentLog(),
  });
  const card = await (await fetch(`${server.url}/.well-known/agent-card.json`)).json();
  const { url } = server;
  await server.stop({ drainMs: 0 });
  const { extensions } = (card as { capabilities: { extensions: { params: { endpoint?: string } }[] } }).capabilities;
  return extensions.find(({ params }) => params.endpoint !== undefined)?.params.endpoint?.replace(url, 'SERVER');
}

test.each<[string, Config, string]>([
  ['no URL is configured', {}, 'SERVER/a2a/messages'],
  ['the mailbox is reached from outside', { mailbox: { url: 'https://a.example' } }, 'https://a.example/a2a/messages'],
  [
    'messages have a URL of their own, with a trailing slash',
    { mailbox: { url: 'https://a.example' }, messages: { url: 'https://b.example/' } },
    'https://b.example/a2a/messages',
  ],
])('the card has the endpoint of messages when %s', async (_, config, endpoint) => {
  expect(await messagesEndpoint(config)).toBe(endpoint);
});
