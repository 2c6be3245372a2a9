import { createRequire } from 'node:module';
import { createClient } from '@dragoman/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moduleAgent, System } from '../system/system.ts';
import { ConsolePage, findBrowser } from './browser.ts';

const naughty: readonly string[] = createRequire(import.meta.url)('big-list-of-naughty-strings');

const { browser } = await findBrowser();
afterAll(() => browser?.close());

/** Each would run a script, load something, open a dialog or leave the page, if it became anything but text. */
const ATTACKS: readonly string[] = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://attacker.example/pixel.png">',
  '![picture](https://attacker.example/pixel.png)',
  '<svg onload=alert(1)></svg>',
  '<svg><script>alert(1)</script></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object>',
  '<embed src="https://attacker.example/x">',
  '<link rel=stylesheet href=https://attacker.example/x.css>',
  '<style>@import "https://attacker.example/x.css"; * { background: url(https://attacker.example/y) }</style>',
  '<base href="https://attacker.example/">',
  '<meta http-equiv=refresh content="0;url=https://attacker.example/">',
  '<form action="https://attacker.example/"><button>Sign in</button></form>',
  '<details open ontoggle=alert(1)>',
  '<video><source onerror=alert(1)></video>',
  '<a href="javascript:alert(1)">click</a>',
  '[click](javascript:alert(1))',
  '[click](JaVaScRiPt:alert(1))',
  '[click](data:text/html,<script>alert(1)</script>)',
  '[click](vbscript:msgbox(1))',
  '<javascript:alert(1)>',
  '"><script>alert(1)</script>',
  "' onmouseover='alert(1)",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what somebody would write
  '`${alert(1)}`',
  '{{constructor.constructor("alert(1)")()}}',
  '<!--><script>alert(1)</script>-->',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<p style="background:url(https://attacker.example/z)">x</p>',
  '<input autofocus onfocus=alert(1)>',
  '<template><script>alert(1)</script></template>',
  '<x is="y" onclick=alert(1)>',
  '```html\n<script>alert(1)</script>\n```',
  '[ref]: javascript:alert(1)\n[ref]',
  '\u202e gnp.exe',
  '\u200b\u2060\ufeff',
  '\u001b[2J\u001b[31mred\u0007',
  '__proto__',
];

describe.skipIf(browser === undefined)('text of unproven callers in the console', () => {
  if (browser === undefined) return;
  let system: System;
  let agent = '';
  const everything = { agents: ['*'], tools: ['*'], operations: ['*'], workflows: ['*'], apis: ['*'] };
  const attack = (at: number) => ATTACKS[at % ATTACKS.length] ?? '';
  beforeAll(async () => {
    const agents = {
      parrot: moduleAgent('parrot'),
      echo: { ...moduleAgent('echo'), name: attack(1), description: attack(4) },
      words: { ...moduleAgent('echo'), name: attack(24), description: attack(36) },
    };
    system = await System.start({
      config: {
        default_agent: 'echo',
        agents,
        tools: [moduleAgent('tools').module],
        mailbox: { requests_per_minute: 1000, callbacks: { retries: 0 } },
        gate: { callbacks: ['127.0.0.1:9'] },
      },
    });
    agent = (await system.caller('ada', { name: attack(0), description: attack(1), permissions: everything })).api_key;
    const client = createClient({ url: system.url, key: agent });
    for (const [at, text] of ATTACKS.entries()) {
      await client.send(text, { agent: 'echo', session: 'attacks', requestId: `${at} ${text}`.slice(0, 400) }).final();
    }
    // As Markdown, unchanged: few enough messages that the page shows all of them in full.
    for (let at = 0; at < ATTACKS.length; at += 4) {
      const text = ATTACKS.slice(at, at + 4).join('\n\n');
      await client.send(text, { agent: 'parrot', session: 'markdown' }).final();
    }
    await client.sessions.create({ agent: 'echo', session: 'titled', title: attack(1) });
    const from = { name: attack(1), callbackUrl: 'https://127.0.0.1:9/answer?%3Cscript%3Ealert(1)%3C/script%3E' };
    await client.mailbox.send({ from, to: { name: 'echo' }, message: attack(0) });
    const admin = createClient({ url: system.url, key: system.adminKey }).admin;
    await admin.keys.create({ agent_id: 'ada', description: attack(1) });
    await admin.credentials.put('hostile', {
      type: 'api-key',
      value: 'a-secret-value',
      hosts: ['api.example.com'],
      description: attack(0),
    });
  }, 120_000);
  afterAll(() => system[Symbol.asyncDispose]());

  test.each([
    '/',
    '/console/requests',
    '/console/chat/attacks?agent=echo',
    '/console/chat/markdown?agent=parrot',
    '/console/agents',
    '/console/agents/ada',
    '/console/outbox',
    '/console/keys',
    '/console/tools',
    '/console/connect',
    `/console/requests/${encodeURIComponent(`0 ${attack(0)}`)}?owner=ada`,
    `/console/requests/${encodeURIComponent(`1 ${attack(1)}`)}?owner=ada`,
    `/console/tools/${encodeURIComponent(attack(1))}`,
    `/console/workflows/stored/${encodeURIComponent(attack(1))}`,
    `/console/requests?agent=${encodeURIComponent(attack(24))}&state=${encodeURIComponent(attack(0))}`,
  ])('%s runs no script, opens no dialog and requests no other host', async (path) => {
    await using visit = await ConsolePage.open(browser, { url: system.url, agent, admin: system.adminKey });
    await visit.go(path);
    await visit.page.getByRole('heading', { level: 1 }).waitFor();
    await visit.page.waitForLoadState('networkidle');
    const found = await visit.page.evaluate(INERT);
    expect(found).toEqual([]);
    visit.expectHarmless();
  });

  test('invisible characters are shown as codes', async () => {
    await using visit = await ConsolePage.open(browser, { url: system.url, agent, admin: system.adminKey });
    await visit.go('/console/requests');
    const shown = visit.page.locator('.unseen', { hasText: '\\u{202e}' });
    await shown.first().waitFor();
  });

  test('a link of an agent shows where it goes, and opens without the page', async () => {
    await using visit = await ConsolePage.open(browser, { url: system.url, agent });
    const { page } = visit;
    await visit.go('/console/chat?agent=echo');
    await page.getByRole('textbox').fill('[your](https://attacker.example/bank) ');
    await page.keyboard.press('Enter');
    const link = page.locator('.markdown a');
    await link.waitFor();
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer nofollow');
    await page.getByText('‹https://attacker.example/bank›').waitFor();
    visit.expectHarmless();
  });

  test('the naughty strings come back as the text they are', async () => {
    await using visit = await ConsolePage.open(browser, { url: system.url, agent });
    const client = createClient({ url: system.url, key: agent });
    // As many as there are, some to a message: every one is rendered as Markdown and as a frame.
    for (let at = 0; at < naughty.length; at += 50) {
      const text = naughty.slice(at, at + 50).join('\n\n');
      await client.send(text, { agent: 'parrot', session: 'naughty', requestId: `naughty-${at}` }).final();
    }
    await visit.go('/console/chat/naughty?agent=parrot');
    await visit.page.locator('.turn .markdown > *').nth(20).waitFor();
    await visit.page.waitForLoadState('networkidle');
    expect(await visit.page.evaluate(INERT)).toEqual([]);
    for (const at of [0, 200, 450]) {
      await visit.go(`/console/requests/naughty-${at}`);
      await visit.page.locator('.frames .final').waitFor();
      expect(await visit.page.evaluate(INERT)).toEqual([]);
    }
    visit.expectHarmless();
  });
});

/** What of the page could act: elements that load or run something, attributes that are code, links that are scripts. */
const INERT = `[...document.querySelectorAll('#app *')].filter((element) => {
  const isActive = /^(script|iframe|object|embed|link|style|base|meta|img|video|audio|form)$/i.test(element.tagName);
  const isOurs = element.tagName === 'FORM' && element.getAttribute('action') === null;
  const hasCode = [...element.attributes].some(({ name }) => /^on/i.test(name));
  const href = element.getAttribute('href') ?? element.getAttribute('src') ?? '';
  return (isActive && !isOurs) || hasCode || !/^(?:https?:|mailto:|\\/|$)/.test(href);
}).map((element) => element.outerHTML.slice(0, 200))`;
