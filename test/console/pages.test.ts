import { createClient } from '@dragoman/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moduleAgent, System } from '../system/system.ts';
import { ConsolePage, findBrowser } from './browser.ts';
import { PAGES } from './pages.ts';

const { browser } = await findBrowser();
afterAll(() => browser?.close());

// They share one browser: while one page waits for its data, another is looked at.
describe.skipIf(browser === undefined).concurrent('every page of the console', () => {
  if (browser === undefined) return;
  let system: System;
  let agent = '';
  beforeAll(async () => {
    const agents = { echo: moduleAgent('echo') };
    system = await System.start({ config: { default_agent: 'echo', agents, tools: [moduleAgent('tools').module] } });
    const everything = { agents: ['*'], tools: ['*'], operations: ['*'], workflows: ['*'], apis: ['*'] };
    agent = (await system.caller('ada', { permissions: everything })).api_key;
    const client = createClient({ url: system.url, key: agent });
    await client.send('hello there', { agent: 'echo', session: 'first', requestId: 'hello-request' }).final();
    await client.mailbox.send({ from: 'Ada', to: { name: 'echo' }, message: 'plan', metadata: { threadId: 'plans' } });
    await client.workflows.execute(WORKFLOW);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const all = [
    ...PAGES,
    ['/console/requests/hello-request?owner=ada', 'Request hello-request'],
    ['/console/requests?text=nothing+like+it', 'Requests'],
    ['/console/chat/first?agent=echo', 'Chat'],
    ['/console/tools/say', 'Tools'],
    ['/console/workflows/executions/looked', 'Workflows'],
    ['/console/mailbox/plans', 'Mailbox'],
  ] as const;

  test.for(all)(
    '%s has no serious finding of axe-core in both themes, and fits 360 pixels',
    async ([path, heading]) => {
      await using visit = await ConsolePage.open(browser, { url: system.url, agent, admin: system.adminKey });
      const { page } = visit;
      await visit.go(path);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await visit.violations(), 'light').toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await visit.violations(), 'dark').toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await visit.overflows()).toBe(false);
      visit.expectHarmless();
    },
  );

  test.for(all)('%s opens for an agent without an admin key', async ([path, heading]) => {
    await using visit = await ConsolePage.open(browser, { url: system.url, agent });
    await visit.go(path);
    await visit.page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await visit.page.waitForLoadState('networkidle');
    expect(await visit.page.getByRole('alert').count()).toBe(0);
    visit.expectHarmless();
  });
});

const WORKFLOW = [
  { type: 'operationUpdate', operationId: 'pause', operation: { Wait: { duration: 1 } } },
  { type: 'beginExecution', executionId: 'looked', operationOrder: ['pause'] },
]
  .map((line) => JSON.stringify(line))
  .join('\n');
