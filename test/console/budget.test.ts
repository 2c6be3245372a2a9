import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createClient } from '@dragoman/client';
import { afterAll, describe, expect, test } from 'vitest';
import { buildConsole } from '../../scripts/build-console.ts';
import { moduleAgent, System } from '../system/system.ts';
import { ConsolePage, findBrowser } from './browser.ts';

const { browser } = await findBrowser();
afterAll(() => browser?.close());

test('the first load is at most 90 KB compressed, and loads nothing from other hosts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-console-'));
  try {
    await buildConsole(folder);
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    const first = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file]) => file ?? '');
    expect(first.filter((file) => file.endsWith('.js')).length).toBeGreaterThan(0);
    const size = ['index.html', ...first].reduce(
      (all, file) => all + gzipSync(readFileSync(join(folder, file))).length,
      0,
    );
    expect(size).toBeLessThan(90_000);
    const files = readdirSync(join(folder, 'console/assets'));
    for (const file of files) {
      expect(file, 'every file but the page has a hash in its name').toMatch(/-[\w-]{8}\.\w+$/);
      // Namespaces of XML are names, not addresses.
      const text = readFileSync(join(folder, 'console/assets', file), 'utf8').replaceAll(
        /https?:\/\/www\.w3\.org[^"'`]*/g,
        '',
      );
      expect(text.match(/(?:src|href|@import|url\()\s*[=(]?\s*["']?https?:\/\/[^"'`)]+/g) ?? [], file).toEqual([]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe.skipIf(browser === undefined)('under load', () => {
  if (browser === undefined) return;
  test('a request page takes a thousand frames a second and loses none', async () => {
    await using system = await System.start({
      config: { default_agent: 'flood', agents: { flood: moduleAgent('flood') } },
    });
    const { api_key: agent } = await system.caller('ada');
    const client = createClient({ url: system.url, key: agent });
    await using visit = await ConsolePage.open(browser, { url: system.url, agent });
    const answer = client.send({ params: { frames: 3000, bytes: 40, pause_ms: 1 } }, { requestId: 'flooded' });
    for await (const _ of answer) break;
    await visit.go('/console/requests/flooded');
    await visit.page.locator('.frames .final').waitFor({ timeout: 50_000 });
    expect(await visit.page.locator('main [role=status]').innerText()).toBe('3,001');
    const last = visit.page.locator('.frames > li').nth(-2);
    expect(await last.innerText()).toContain('2999 xxx');
    visit.expectHarmless();
  });
});
