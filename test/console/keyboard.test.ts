import { createClient } from '@dragoman/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moduleAgent, System } from '../system/system.ts';
import { ConsolePage, findBrowser } from './browser.ts';
import { PAGES } from './pages.ts';

const { browser } = await findBrowser();
afterAll(() => browser?.close());

describe.skipIf(browser === undefined)('with the keyboard alone', () => {
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
  });
  afterAll(() => system[Symbol.asyncDispose]());
  const open = () => ConsolePage.open(browser, { url: system.url, agent, admin: system.adminKey });

  test.for([
    ...PAGES,
    ['/console/requests/hello-request?owner=ada', 'Request hello-request'],
    ['/console/chat/first?agent=echo', 'Chat'],
    ['/console/tools/say', 'Tools'],
  ] as const)('everything on %s is reached, and shows that it has the focus', async ([path, heading]) => {
    await using visit = await open();
    const { page } = visit;
    await visit.go(path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await page.evaluate(WATCH);
    // After the last one the browser begins again with the first.
    for (let step = 0; step < MOST_STEPS && ((await page.evaluate('window.left()')) as string[]).length > 0; step++) {
      await page.keyboard.press('Tab');
      // The editor marks itself a moment later.
      const unmarked = () => page.evaluate('window.unmarked()');
      await expect.poll(unmarked, { message: 'has the focus and does not show it' }).toBeNull();
    }
    expect(await page.evaluate('window.left()'), 'not reached').toEqual([]);
    visit.expectHarmless();
  });

  test('every page is opened from the list of pages', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/nowhere');
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await links.first().waitFor();
    const labels = await links.allInnerTexts();
    for (const label of labels) {
      for (let step = 0; step < 200; step++) {
        await page.keyboard.press('Tab');
        if (
          (await page.evaluate('document.activeElement.closest("nav") && document.activeElement.textContent')) === label
        )
          break;
      }
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: label, level: 1 }).waitFor();
    }
    expect(labels.length).toBeGreaterThan(10);
  });

  test('a key is created, and revoked in a dialog that has the focus and closes with Escape', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/keys');
    const tabTo = async (tag: string, text: string) => {
      for (let step = 0; step < 200; step++) {
        await page.keyboard.press('Tab');
        const [name, shown] = (await page.evaluate(
          '(({ tagName, textContent, parentElement }) => [tagName, textContent || parentElement?.textContent])(document.activeElement)',
        )) as [string, string];
        if (name === tag && shown.includes(text)) return;
      }
      throw new Error(`the keyboard does not reach ${text}`);
    };
    await page.getByRole('table').first().waitFor();
    await tabTo('INPUT', 'Agent id');
    await page.keyboard.type('ada');
    await tabTo('INPUT', 'What it is for');
    await page.keyboard.type('typed');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row', { name: /typed/ });
    await row.waitFor();
    // The list is loaded again after the creation, which may draw the button once more between its focus and the key.
    const openDialog = () =>
      expect
        .poll(
          async () => {
            await row.getByRole('button', { name: 'Revoke' }).press('Enter');
            const dialog = page.getByRole('dialog').waitFor({ timeout: 2000 });
            return dialog.then(
              () => true,
              () => false,
            );
          },
          { timeout: 15_000 },
        )
        .toBe(true);
    await openDialog();
    expect(await page.evaluate('document.activeElement.closest("dialog") !== null')).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await openDialog();
    await page.keyboard.press('Enter');
    await row.getByText('revoked').waitFor();
    visit.expectHarmless();
  });
});

const MOST_STEPS = 300;

/** Notes what has had the focus. A page may change in the meantime: what counts is what is there in the end. */
const WATCH = `
  const reached = new Set();
  const nameOf = (element) => element.outerHTML.slice(0, 160);
  window.left = () => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, .editor, [tabindex="0"]')]
    .filter((element) => !element.disabled && element.checkVisibility() && !reached.has(element))
    .map(nameOf);
  window.unmarked = () => {
    const element = document.activeElement;
    if (element === document.body || element === null) return null;
    reached.add(element);
    const inner = element.shadowRoot?.activeElement?.closest('.cm-editor') ?? element;
    const marked = [inner, element.parentElement].some((one) => getComputedStyle(one).outlineStyle !== 'none');
    return marked ? null : nameOf(element);
  };`;
