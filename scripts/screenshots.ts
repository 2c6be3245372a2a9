// Starts the built server with its demo, lets it work for a minute, and takes the pictures of the console that the README and the
// docs show. The first folder is for those; `--all` takes every page in both themes and on a phone instead, to look at.
//
//   npm run screenshots [-- folder] [-- --all folder]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from '@dragoman/client';
import { ConsolePage, findBrowser, type Visit } from '../test/console/browser.ts';
import { PAGES } from '../test/console/pages.ts';

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly scheme: 'light' | 'dark';
  readonly prepare?: (visit: ConsolePage) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'console-overview', path: '/', scheme: 'dark' },
  {
    name: 'console-request',
    path: '/console/requests?protocol=a2a',
    scheme: 'light',
    prepare: async ({ page }) => {
      await page.locator('tbody a').first().click();
      await page.getByRole('heading', { name: 'Permissions' }).waitFor();
    },
  },
  {
    name: 'console-chat',
    path: '/console/chat?agent=guide',
    scheme: 'light',
    prepare: async ({ page }) => {
      await page.getByRole('textbox').fill('Show me around, please');
      await page.keyboard.press('Enter');
      await page.getByText('Most active').first().waitFor();
      await page.getByRole('button', { name: 'the same through…' }).click();
      await page.getByRole('button', { name: 'OpenAI', exact: true }).click();
    },
  },
  {
    name: 'console-workflows',
    path: '/console/workflows',
    scheme: 'dark',
    prepare: async ({ page }) => {
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('svg.graph .success[data-step=keep]').waitFor();
    },
  },
  { name: 'console-requests', path: '/console/requests', scheme: 'light' },
];

const words = process.argv.slice(2);
const isAll = words.includes('--all');
const folder = words.find((word) => !word.startsWith('--')) ?? (isAll ? 'screenshots' : 'docs/images');
const found = await findBrowser();
if (found.browser === undefined) throw new Error(found.reason);
const { browser } = found;
mkdirSync(folder, { recursive: true });
const data = mkdtempSync(join(tmpdir(), 'dragoman-pictures-'));
const program = fileURLToPath(new URL('../packages/cli/bin/dragoman.js', import.meta.url));
// At the usual port: the pictures show addresses.
const server = spawn(process.execPath, [program, 'dev', '--json', '--data', data, '--no-look'], {
  stdio: ['pipe', 'pipe', 'ignore'],
});
try {
  const lines = createInterface({ input: server.stdout });
  await new Promise<void>((ready, fail) => {
    lines.on('line', (line) => JSON.parse(line).event === 'demo' && ready());
    server.once('exit', () => fail(new Error('The demo did not start. Is port 7420 in use?')));
  });
  const { url, key: agent, admin_key: admin } = JSON.parse(readFileSync(join(data, 'dev-keys.json'), 'utf8'));
  await work(url, agent);
  const take = async (file: string, path: string, visiting: Partial<Visit>, prepare?: Picture['prepare']) => {
    await using visit = await ConsolePage.open(browser, { url, agent, admin, width: 1280, height: 800, ...visiting });
    await visit.go(path);
    await visit.page.waitForLoadState('networkidle');
    await prepare?.(visit);
    await pause(500);
    if (await visit.overflows()) console.warn(`${file} is wider than its window`);
    if (visit.faults.length > 0) console.warn(file, visit.faults);
    await visit.page.screenshot({ path: join(folder, `${file}.png`) });
  };
  if (isAll) {
    for (const [path, heading] of PAGES) {
      const name = path.replace('/console', '').replaceAll('/', '-').slice(1) || heading.toLowerCase();
      await take(`${name}-light`, path, { scheme: 'light' });
      await take(`${name}-dark`, path, { scheme: 'dark' });
      await take(`${name}-phone`, path, { width: 360, height: 740 });
    }
  } else {
    for (const { name, path, scheme, prepare } of PICTURES) await take(name, path, { scheme }, prepare);
  }
} finally {
  await browser.close();
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'close');
  rmSync(data, { recursive: true, force: true });
}

/** Something to see: a minute of requests of several protocols, one of them failing, and conversations. */
async function work(url: string, key: string): Promise<void> {
  const client = createClient({ url, key });
  // Below the limit of sixty a minute.
  for (let round = 0; round < 12; round++) {
    const busy = 1 + Math.round(1.5 * (1 + Math.sin(round / 1.5)));
    const sent = Array.from({ length: busy }, () => client.send('hello', { agent: 'echo' }).final());
    await Promise.all([...sent, pause(5000)]);
    if (round % 4 === 3) await client.send('try', { agent: 'failing' }).final();
  }
  await client.send('what time is it?', { agent: 'clock', session: 'the time' }).final();
  for (const text of ['hello there', 'what can you do?'])
    await client.send(text, { agent: 'echo', session: 'a first talk' }).final();
  await client.mailbox.send({
    from: 'Ada',
    message: 'a letter',
    to: { name: 'echo' },
    metadata: { threadId: 'letters' },
  });
  await byA2a(url, key);
}

/** A request of another protocol, whose X-ray has more to show. */
async function byA2a(url: string, key: string): Promise<void> {
  const message = { messageId: 'shown-by-a2a', role: 'ROLE_USER', parts: [{ text: 'Hello from an A2A client' }] };
  await fetch(`${url}/lf-a2a/agents/echo`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  });
}
