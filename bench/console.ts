// The web console in a real browser, against its own server: how large the first load is, how soon it can be used, what an
// open request page renders of a thousand frames a second, what an open overview costs the server, and how long lists of 100,000
// requests take.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createClient } from '@dragoman/client';
import type { Browser } from 'playwright-core';
import { loadEngine } from '../packages/core/src/store/sqlite-engine.ts';
import { ConsolePage, findBrowser } from '../test/console/browser.ts';
import { median, table } from './support/measure.ts';

export async function run(): Promise<readonly string[]> {
  const { browser, ...rest } = await findBrowser();
  if (browser === undefined) return ['reason' in rest ? rest.reason : 'no browser'];
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
  const adminKey = `adm_${randomBytes(16).toString('hex')}`;
  const agent = fileURLToPath(new URL('./console/agent.mjs', import.meta.url));
  const config = join(folder, 'dragoman.yaml');
  writeFileSync(
    config,
    JSON.stringify({ port: 0, default_agent: 'flood', agents: { flood: { driver: 'module', module: agent } } }),
  );
  const data = join(folder, 'data');
  try {
    // Once for an empty store; then it is filled, and lists are measured over it.
    await (await Server.start({ config, data, adminKey })).stop();
    await fill(join(data, 'dragoman.db'));
    const server = await Server.start({ config, data, adminKey });
    try {
      return await measured(server, browser, adminKey);
    } finally {
      await server.stop();
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(server: Server, browser: Browser, admin: string): Promise<readonly string[]> {
  const { url } = server;
  const { api_key: agent = '' } = await createClient({ url, key: admin }).admin.agents.put({
    agent_id: 'bench',
    permissions: { agents: ['*'] },
  });
  const figures: Figure[] = [
    { what: 'first load, compressed', value: await firstLoad(url), unit: 'bytes', most: 90_000 },
    { what: 'interactive', value: await interactive({ url, admin }, browser), unit: 'ms', most: 1000 },
    ...(await flooded({ url, agent }, browser)),
    { what: 'open overview', value: await overviewCost(server, admin, browser), unit: '% of a core', most: 1 },
    ...(await lists({ url, admin })),
    ...(await listPages({ url, admin }, browser)),
  ];
  console.log(
    table([
      ['console', 'measured', 'budget'],
      ...figures.map(({ what, value, unit, most, least }) => [
        what,
        `${value.toFixed(unit === '% of a core' ? 2 : 0)} ${unit}`,
        most !== undefined ? `at most ${most}` : least !== undefined ? `at least ${least}` : '',
      ]),
    ]),
  );
  return figures.flatMap(({ what, value, unit, most = Number.POSITIVE_INFINITY, least = 0 }) =>
    value > most || value < least ? [`${what}: ${value.toFixed(2)} ${unit}`] : [],
  );
}

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly most?: number;
  readonly least?: number;
}

interface Place {
  readonly url: string;
  readonly agent?: string;
  readonly admin?: string;
}

async function firstLoad(url: string): Promise<number> {
  const html = await (await fetch(url, { headers: { Accept: 'text/html' } })).text();
  const files = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file]) => file ?? '');
  let size = gzipSync(html).length;
  for (const file of files) size += gzipSync(await (await fetch(`${url}/${file}`)).text()).length;
  return size;
}

/** From the start of the navigation, by the page's own clock, until the overview stands there with its numbers. */
async function interactive(place: Place, browser: Browser): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    await using visit = await ConsolePage.open(browser, place);
    await visit.page.addInitScript(`
      const look = () => document.querySelector('.tile') === null ? requestAnimationFrame(look) : (window.readyAt = performance.now());
      look();`);
    await visit.go('/');
    await visit.page.locator('.tile').first().waitFor();
    times.push((await visit.page.evaluate('window.readyAt')) as number);
  }
  return median(times);
}

/** A thousand frames a second for ten seconds into an open page. */
async function flooded({ url, agent = '' }: Place, browser: Browser): Promise<Figure[]> {
  const client = createClient({ url, key: agent });
  await using visit = await ConsolePage.open(browser, { url, agent });
  const answer = client.send({ params: { frames: 10_000 } }, { requestId: 'flooded' });
  for await (const _ of answer) break;
  await visit.go('/console/requests/flooded');
  await visit.page.locator('.frames > li').first().waitFor();
  await visit.page.evaluate(`
    window.seen = { renders: 0, from: performance.now(), to: 0, text: '' };
    const look = () => {
      const text = document.querySelector('main [role=status]').textContent;
      if (text !== seen.text) { seen.renders += 1; seen.text = text; seen.to = performance.now(); }
      if (document.querySelector('.frames .final') === null) requestAnimationFrame(look);
    };
    look();`);
  await visit.page.locator('.frames .final').waitFor({ timeout: 60_000 });
  const seen = (await visit.page.evaluate('window.seen')) as { renders: number; from: number; to: number };
  const shown = await visit.page.locator('main [role=status]').innerText();
  const frames = Number(shown.replaceAll(/\D/g, ''));
  return [
    {
      what: 'renders a second, of 1,000 frames',
      value: (1000 * seen.renders) / (seen.to - seen.from),
      unit: '',
      least: 30,
    },
    { what: 'frames lost', value: 10_001 - frames, unit: '', most: 0 },
  ];
}

/** Processor time of the server with the overview open, less that without. */
async function overviewCost(server: Server, admin: string, browser: Browser): Promise<number> {
  const shares: number[] = [];
  for (let round = 0; round < 3; round++) {
    const idle = await server.share(10_000);
    await using visit = await ConsolePage.open(browser, { url: server.url, admin });
    await visit.go('/');
    await visit.page.locator('.tile').first().waitFor();
    shares.push(Math.max(0, (await server.share(10_000)) - idle));
  }
  return 100 * median(shares);
}

/** Pages of a list, at the client. */
async function lists({ url, admin = '' }: Place): Promise<Figure[]> {
  const { requests } = createClient({ url, key: admin }).admin;
  const first = await requests.list({});
  const queries = {
    'newest page': {},
    'next page': { cursor: first.next_cursor ?? undefined },
    'by agent': { agent: 'agent3' },
    'by a rare state': { state: 'refused' },
    'by text, found nowhere': { text: 'no such needle' },
  } as const;
  const figures: Figure[] = [];
  for (const [name, query] of Object.entries(queries)) {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const start = performance.now();
      await requests.list(query);
      times.push(performance.now() - start);
    }
    figures.push({ what: `100,000 requests of 1,000 callers, ${name}`, value: median(times), unit: 'ms', most: 200 });
  }
  return figures;
}

/** The page itself over them. */
async function listPages(place: Place, browser: Browser): Promise<Figure[]> {
  await using visit = await ConsolePage.open(browser, place);
  await visit.go('/');
  await visit.page.locator('.tile').first().waitFor();
  const start = performance.now();
  await visit.page.getByRole('link', { name: 'Requests', exact: true }).click();
  await visit.page.locator('tbody tr').nth(49).waitFor();
  return [
    { what: 'requests page over them, from the click', value: performance.now() - start, unit: 'ms', most: 1000 },
  ];
}

/** A server of the built command. */
class Server {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start({ config, data, adminKey }: { config: string; data: string; adminKey: string }): Promise<Server> {
    const command = fileURLToPath(new URL('../packages/cli/bin/dragoman.js', import.meta.url));
    const child = spawn(process.execPath, [command, 'serve', '--json', '--config', config, '--data', data], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, DRAGOMAN_ADMIN_KEY: adminKey },
    });
    const listening = once(createInterface({ input: child.stdout }), 'line');
    const [line] = await Promise.race([listening, once(child, 'exit').then(() => ['{}'])]);
    const { url } = JSON.parse(line);
    if (url === undefined) throw new Error('the server ended before it listened');
    return new Server(child, url);
  }

  /** The part of a core that it uses over this time. Linux only. */
  async share(milliseconds: number): Promise<number> {
    const ticks = () => {
      const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return Number(fields[11]) + Number(fields[12]);
    };
    const before = ticks();
    await pause(milliseconds);
    return ((ticks() - before) * MS_A_TICK) / milliseconds;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}

/** 100,000 requests of 1 KB that have ended, of 1,000 callers and 7 agents. */
async function fill(path: string): Promise<void> {
  const database = (await loadEngine()).open(path);
  const now = Date.now();
  database.exec(`
    BEGIN;
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
    INSERT INTO requests (owner, request_id, agent_id, session_id, envelope, accepted_at, priority, checksum)
    SELECT 'caller' || (n % 1000), 'req_' || n, 'agent' || (n % 7), 's' || (n % 50),
      '{"params":{"content":"' || hex(randomblob(500)) || '"}}', ${now} - n * 100, 5, 0 FROM numbers;
    INSERT INTO ended_requests (request, owner, agent_id, ending, ended_at)
    SELECT id, owner, agent_id, CASE WHEN id % 20000 = 0 THEN 'refused' ELSE 'completed' END, accepted_at FROM requests;
    COMMIT`);
  database.close();
}

/** Linux counts processor time in hundredths of a second. */
const MS_A_TICK = 10;
