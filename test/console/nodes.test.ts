import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClusterSystem } from '../system/cluster-system.ts';
import { moduleAgent } from '../system/system.ts';
import { ConsolePage, findBrowser } from './browser.ts';

const { browser } = await findBrowser();
afterAll(() => browser?.close());

describe.skipIf(browser === undefined)('the nodes of a cluster in the console', () => {
  if (browser === undefined) return;
  let cluster: ClusterSystem;
  beforeAll(async () => {
    cluster = await ClusterSystem.start(2, { default_agent: 'held', agents: { held: moduleAgent('held') } });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  test('are listed with their work, in both themes and on 360 pixels, and one that stops is shown to have left', async () => {
    const [one, two] = cluster.nodes as [(typeof cluster.nodes)[0], (typeof cluster.nodes)[0]];
    await using visit = await ConsolePage.open(browser, { url: two.url, admin: one.adminKey });
    const { page } = visit;
    const answer = await cluster.stream(one, { request_id: 'open', params: {} });
    for await (const _ of answer.frames()) break;
    await visit.go('/console/nodes');
    await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
    const rows = page.locator('tbody tr');
    await rows.nth(1).waitFor();
    expect(await rows.locator('.badge').allInnerTexts()).toEqual(['live', 'live']);
    expect(await rows.nth(0).locator('td').nth(8).innerText()).toBe('1');
    expect(await rows.nth(1).locator('td').nth(1).innerText()).toContain('(this one)');
    expect(await rows.nth(1).locator('td').nth(8).innerText()).toBe('0');
    expect(await page.locator('.problem').count()).toBe(0);
    await page.getByText('synchronous standbys: none').waitFor();
    expect(await visit.violations(), 'light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await visit.violations(), 'dark').toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await visit.overflows()).toBe(false);
    await one.stop();
    await page.locator('.badge', { hasText: 'left' }).waitFor();
    visit.expectHarmless();
  });
});
