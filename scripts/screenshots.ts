// Starts the built server with its demo, does a few things with it, and takes pictures of the console in both themes.
//
//   npm run screenshots [-- folder]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@dragoman/client';
import { ConsolePage, findBrowser } from '../test/console/browser.ts';

type Picture = readonly [name: string, path: string, prepare?: (visit: ConsolePage) => Promise<void>];

const PICTURES: readonly Picture[] = [
  ['overview', '/'],
  ['requests', '/console/requests'],
  ['request', '/console/requests/guided-1?owner=demo'],
  [
    'chat',
    '/console/chat?agent=guide',
    async ({ page }) => {
      await page.getByRole('textbox').fill('Show me around, please');
      await page.keyboard.press('Enter');
      await page.waitForTimeout(1500);
    },
  ],
  [
    'workflows',
    '/console/workflows',
    async ({ page }) => {
      await page.getByRole('button', { name: 'Run' }).click();
      await page.waitForTimeout(1500);
    },
  ],
  ['tools', '/console/tools/word_count'],
  ['agents', '/console/agents'],
  ['outbox', '/console/outbox'],
  ['keys', '/console/keys'],
  ['connect', '/console/connect'],
];

const folder = process.argv[2] ?? 'screenshots';
const found = await findBrowser();
if (found.browser === undefined) throw new Error(found.reason);
const { browser } = found;
mkdirSync(folder, { recursive: true });
const data = mkdtempSync(join(tmpdir(), 'dragoman-pictures-'));
const program = fileURLToPath(new URL('../packages/cli/bin/dragoman.js', import.meta.url));
const server = spawn(process.execPath, [program, 'dev', '--json', '--port', '0', '--data', data, '--no-look'], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
try {
  for await (const line of createInterface({ input: server.stdout })) {
    if (JSON.parse(line).event === 'demo') break;
  }
  const keys = JSON.parse(readFileSync(join(data, 'dev-keys.json'), 'utf8'));
  const { url, key: agent, admin_key: admin } = keys;
  await furnish(url, agent);
  for (const scheme of ['light', 'dark'] as const) {
    for (const [name, path, prepare] of PICTURES) {
      await using visit = await ConsolePage.open(browser, { url, agent, admin, scheme, width: 1440, height: 900 });
      await visit.go(path);
      await visit.page.waitForTimeout(1200);
      await prepare?.(visit);
      await visit.page.screenshot({ path: join(folder, `${name}-${scheme}.png`) });
      if (visit.faults.length > 0) console.warn(name, visit.faults);
    }
  }
  for (const [name, path] of PICTURES) {
    await using visit = await ConsolePage.open(browser, { url, agent, admin, width: 360, height: 740 });
    await visit.go(path);
    await visit.page.waitForTimeout(1000);
    if (await visit.overflows()) console.warn(`${name} is wider than 360 px`);
    await visit.page.screenshot({ path: join(folder, `${name}-narrow.png`) });
  }
} finally {
  await browser.close();
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'close');
  rmSync(data, { recursive: true, force: true });
}

/** Something to see: conversations, requests of several protocols, a failure, an execution. */
async function furnish(url: string, key: string): Promise<void> {
  const client = createClient({ url, key });
  for (const text of ['hello there', 'what can you do?', 'good'])
    await client.send(text, { agent: 'echo', session: 'tour' }).final();
  await client.send('what time is it?', { agent: 'clock', session: 'time' }).final();
  await client.send('guide me', { agent: 'guide', session: 'guided', requestId: 'guided-1' }).final();
  await client.send('try', { agent: 'failing' }).final();
  await client.mailbox.send({ from: 'Ada', message: 'hello by mailbox', to: { name: 'echo' } });
}
