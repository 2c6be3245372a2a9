import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@dragoman/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moduleAgent, System } from '../system/system.ts';
import { ConsolePage, findBrowser } from './browser.ts';

const { browser } = await findBrowser();
afterAll(() => browser?.close());

describe.skipIf(browser === undefined)('work in the console', () => {
  if (browser === undefined) return;
  let system: System;
  let agent = '';
  const notes = mkdtempSync(join(tmpdir(), 'dragoman-notes-'));
  const open = (width = 1280) => ConsolePage.open(browser, { url: system.url, agent, admin: system.adminKey, width });
  beforeAll(async () => {
    const agents = {
      echo: moduleAgent('echo'),
      held: moduleAgent('held'),
      words: moduleAgent('words'),
      asker: moduleAgent('asker'),
    };
    system = await System.start({
      config: {
        port: await freePort(),
        default_agent: 'echo',
        agents,
        tools: [moduleAgent('tools').module],
        mcp_servers: { bad: { command: process.execPath, args: [MCP_SERVER, join(notes, 'notes'), 'nonsense'] } },
        // No server listens there: callbacks to it are dead after the first try.
        mailbox: { requests_per_minute: 1000, callbacks: { retries: 0 } },
        gate: { callbacks: ['127.0.0.1:9'] },
      },
    });
    const everything = { agents: ['*'], tools: ['*'], operations: ['*'], workflows: ['*'], apis: ['*'] };
    agent = (await system.caller('ada', { permissions: everything })).api_key;
  });
  afterAll(async () => {
    await system[Symbol.asyncDispose]();
    rmSync(notes, { recursive: true, force: true });
  });

  test('a message is answered in the chat, and the conversation is there after a reload', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/chat?agent=echo');
    await page.getByRole('textbox').fill('good **morning** to you');
    await page.keyboard.press('Enter');
    await page.locator('.turn strong', { hasText: 'morning' }).waitFor();
    await page.getByRole('link', { name: /good \*\*morning/ }).waitFor();
    expect(page.url()).toMatch(/\/console\/chat\/[\w-]+\?agent=echo$/);
    await page.reload();
    await page.locator('.turn.mine', { hasText: 'good **morning** to you' }).waitFor();
    visit.expectHarmless();
  });

  test('files go with a message, and the same request works through every protocol that is offered', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/chat?agent=echo');
    await page.getByLabel('Attach').setInputFiles([
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('first') },
      { name: '<b>two</b>.txt', mimeType: 'text/plain', buffer: Buffer.from('second') },
    ]);
    await page.getByRole('textbox').fill("it's-here");
    await page.keyboard.press('Enter');
    await page.locator('.turn.mine', { hasText: 'with one.txt, <b>two</b>.txt' }).waitFor();
    await page.getByRole('button', { name: 'the same through…' }).click();
    const id = (await page.getByRole('link', { name: /frames/ }).getAttribute('href'))?.split('/').at(-1) ?? '';
    const { envelope } = await createClient({ url: system.url, key: system.adminKey }).admin.requests.explain(id);
    const uri = `data:text/plain;base64,${Buffer.from('first').toString('base64')}`;
    expect(envelope).toMatchObject({ params: { files: [{ uri, name: 'one.txt', size: 5 }, { size: 6 }] } });
    for (const name of ['curl', 'A2A', 'MCP', 'OpenAI', 'mailbox']) {
      await page.getByRole('button', { name, exact: true }).click();
      const command = await page.getByRole('region', { name: `The same request by ${name}` }).innerText();
      const env = { PATH: process.env['PATH'] ?? '', DRAGOMAN_KEY: agent };
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
      expect(stdout, name).toContain("it's-here");
      expect(stdout, name).not.toMatch(/"error":|problem/);
    }
    visit.expectHarmless();
  });

  test('an answer under way is read on after a reload, and can be stopped', async () => {
    await using visit = await open();
    const { page } = visit;
    const client = createClient({ url: system.url, key: agent });
    const answer = client.send({ params: {} }, { agent: 'held', session: 'long', requestId: 'long-one' });
    for await (const _ of answer) break;
    await visit.go('/console/chat/long?agent=held');
    await page.getByText('begun').waitFor();
    await page.reload();
    await page.getByText('begun').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('E2A.CANCELLED').waitFor();
    visit.expectHarmless();
  });

  test('a question of an agent is answered in the chat, and another on the questions page', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/chat?agent=asker');
    await page.getByRole('textbox').fill('ask me');
    await page.keyboard.press('Enter');
    await page.getByText('May I?').waitFor();
    await page.locator('.notice').getByRole('button').first().click();
    await page.getByText(/answered: /).waitFor();
    const client = createClient({ url: system.url, key: agent });
    const answer = client.send('again', { agent: 'asker' });
    await visit.go('/console/questions');
    await page.locator('.notice', { hasText: 'May I?' }).getByRole('button').first().click();
    expect(await answer.text()).toContain('answered: ');
    await page.getByRole('heading', { name: 'No open questions' }).waitFor();
    visit.expectHarmless();
  });

  test('questions that have ended are listed with their answers', async () => {
    const client = createClient({ url: system.url, key: agent });
    const answer = client.send('for the history', { agent: 'asker', requestId: 'for-the-history' });
    const mine = async () => (await client.questions.list()).find((one) => one.request_id === 'for-the-history');
    await expect.poll(mine).toBeDefined();
    const question = await mine();
    if (question === undefined) throw new Error('no question');
    await client.questions.answer(question, { option_id: 'reject' });
    await answer.final();
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/questions');
    const row = page.getByRole('region', { name: 'History' }).getByRole('row', { name: /answered May I\? Reject ada/ });
    await row.first().getByRole('link', { name: 'May I?' }).click();
    await page.waitForURL(/requests\/for-the-history/);
    expect(await visit.violations()).toEqual([]);
    visit.expectHarmless();
  });

  test('a conversation continues in the open page after the server was killed and started again', async () => {
    await using visit = await open();
    const { page } = visit;
    const client = createClient({ url: system.url, key: agent });
    for await (const _ of client.send({ params: { query: 'first' } }, { agent: 'held', session: 'survivor' })) break;
    await visit.go('/console/chat/survivor?agent=held');
    await page.getByText('begun').waitFor();
    await system.kill();
    await page.getByText('The connection to the server is lost.').waitFor();
    await system.start();
    await page.getByText('The connection to the server is lost.').waitFor({ state: 'detached' });
    // The server ends the running request; the page reads that end without a reload, and keeps the earlier text.
    await page.getByText('E2A.INTERRUPTED').waitFor();
    expect(await page.getByText('begun').count()).toBe(1);
    await page.getByRole('textbox').fill('second');
    await page.keyboard.press('Enter');
    const echoed = page.locator('.turn', { hasText: '"echoed": "second"' });
    await echoed.waitFor({ state: 'attached' });
    await page.reload();
    await page.locator('.turn.mine').nth(1).waitFor();
    expect(await page.locator('.turn.mine').allInnerTexts()).toEqual(['first', 'second']);
    await page.getByText('E2A.INTERRUPTED').waitFor();
    await echoed.waitFor({ state: 'attached' });
  });

  test('the workflow editor offers what the schema of an operation allows, taken with the keyboard', async () => {
    await using visit = await open();
    const { page } = visit;
    // The editor ignores Enter for 75 ms after its list has appeared.
    const accept = async (option: { name: string | RegExp }) => {
      await page.getByRole('option', option).waitFor();
      await page.waitForTimeout(150);
      await page.keyboard.press('Enter');
    };
    await visit.go('/console/workflows');
    await page.getByText('Valid').waitFor();
    await page.getByRole('textbox', { name: 'Workflow, JSON lines' }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('{"type":"operationUpdate","operationId":"s","operation":{"StoreD');
    await accept({ name: /StoreData/ });
    await page.keyboard.type('{"inp');
    await accept({ name: /inputPath/ });
    await page.keyboard.type('"');
    await accept({ name: '/workflow/now' });
    await page.keyboard.type(',"storage":"sess');
    await accept({ name: 'sessionStorage' });
    await page.keyboard.type(',"key":"k"}}}');
    await page.keyboard.press('Enter');
    const written = '{"StoreData":{"inputPath":"/workflow/now","storage":"sessionStorage","key":"k"}}';
    await page.locator('.cm-line', { hasText: written }).waitFor();
    visit.expectHarmless();
  });

  test('settings for a client hold a fresh key, which works', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/connect');
    await page.getByLabel('Put a fresh key of').selectOption('ada');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = await page.locator('.notice code').innerText();
    expect((await createClient({ url: system.url, key }).workflows.limits()).agent_id).toBe('ada');
    const settings = await page.getByRole('region', { name: 'Settings for MCP over HTTP' }).innerText();
    expect(JSON.parse(settings)).toEqual({
      mcpServers: {
        dragoman: { type: 'http', url: `${system.url}/mcp`, headers: { Authorization: `Bearer ${key}` } },
      },
    });
    expect(await visit.violations()).toEqual([]);
    visit.expectHarmless();
  });

  test('a request appears in the list by itself, shows its frames as they arrive, and is cancelled', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/requests?agent=held');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    const client = createClient({ url: system.url, key: agent });
    const answer = client.send({ params: {} }, { agent: 'held', requestId: 'watched' });
    await page.getByRole('link', { name: 'watched' }).click();
    await page.getByText('begun').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.frames .failed').waitFor();
    expect((await answer.final()).body).toMatchObject({ code: 'E2A.CANCELLED' });
    await page.getByRole('heading', { name: 'The envelope' }).waitFor();
    await page.getByRole('heading', { name: 'Permissions' }).waitFor();
    visit.expectHarmless();
  });

  test("an administrator finds somebody else's request by protocol and text, and cancels it", async () => {
    const bob = await system.caller('bob', { permissions: { agents: ['*'] } });
    const client = createClient({ url: system.url, key: bob.api_key });
    const answer = client.send({ params: { note: 'a needle' } }, { agent: 'held', requestId: 'of-bob' });
    for await (const _ of answer) break;
    await expect(createClient({ url: system.url, key: 'a-guess' }).workflows.limits()).rejects.toThrow();
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/requests');
    await page.getByLabel('Protocol').selectOption('e2a');
    await page.getByLabel('Changed within').selectOption('1 hour');
    await page.getByLabel('Text in the message').fill('A NEEDLE');
    await page.keyboard.press('Enter');
    await page.waitForURL(/text=A\+NEEDLE/);
    await page.getByRole('link', { name: 'of-bob' }).waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: 'of-bob' }).click();
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel it' }).click();
    await page.locator('.frames .failed').waitFor();
    expect((await answer.final()).body).toMatchObject({ code: 'E2A.CANCELLED' });
    await visit.go('/');
    await page.getByRole('link', { name: /Failed logins from 127\.0\.0\.1/ }).waitFor();
    await page.getByRole('row', { name: /held/ }).waitFor();
    visit.expectHarmless();
  });

  test('the list of requests continues by itself after a restart of the server', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/requests?state=completed');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    const client = createClient({ url: system.url, key: agent });
    for await (const _ of client.send({ params: {} }, { agent: 'held', session: 'lasting' })) break;
    await using chat = await open();
    await chat.go('/console/chat/lasting?agent=held');
    await chat.page.getByText('begun').waitFor();
    await system.kill();
    await page.getByText('The connection to the server is lost.').waitFor();
    await system.start();
    await page.getByText('The connection to the server is lost.').waitFor({ state: 'detached' });
    await createClient({ url: system.url, key: agent })
      .send('after it', { agent: 'echo', requestId: 'after-it' })
      .final();
    await page.getByRole('link', { name: 'after-it' }).waitFor();
    // The earlier text is still there, and the answer has the end that the restarted server gave it.
    await chat.page.getByText('begun').waitFor();
    await chat.page.getByText('E2A.INTERRUPTED').waitFor();
  });

  test('a workflow is checked at its line, planned, and run with its steps lighting up', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/workflows');
    await page.getByText('Valid').waitFor();
    await page.locator('svg.graph [data-step=pause]').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('svg.graph .success[data-step=keep]').waitFor();
    await page.getByRole('link', { name: /first-look/ }).click();
    await page.locator('svg.graph .success[data-step=keep]').waitFor();
    await page.getByText('waited, until').waitFor();
    const keep = page.getByRole('listitem').filter({ hasText: 'stored a value' });
    await keep.getByText('Input').click();
    await keep.getByRole('region', { name: 'Input of keep' }).getByText('/workflow/now').waitFor();
    await page.goBack();
    await page.getByText('Valid').waitFor();
    await page.getByText('Approve it').click();
    for (const [description, duration] of [
      ['the first', 500],
      ['the second', 20],
    ] as const) {
      await page.getByLabel('Name').fill('look');
      await page.getByLabel('Description').fill(description);
      await page.getByRole('button', { name: 'Store', exact: true }).click();
      await page.getByRole('region', { name: 'Versions' }).getByText(description).waitFor();
      if (duration === 20) break;
      await page.goBack();
      const text = page.getByRole('textbox', { name: 'Workflow, JSON lines' });
      await text.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('{"type":"operationUpdate","operationId":"p","operation":{"Wait":{"duration":20}}}');
      await page.keyboard.press('Enter');
      await page.keyboard.type('{"type":"beginExecution","executionId":"x","operationOrder":["p"]}');
      await page.getByText('Approve it').click();
    }
    await page.getByRole('button', { name: /Compare with version 2/ }).click();
    await page.locator('.diff .removed', { hasText: 'GetCurrentDateTime' }).waitFor();
    await page.locator('.diff .added', { hasText: '"p"' }).first().waitFor();
    expect(await visit.violations()).toEqual([]);
    await visit.go('/console/workflows');
    await page.getByText('Valid').waitFor();
    const editor = page.getByRole('textbox', { name: 'Workflow, JSON lines' });
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('{"type":"operationUpdate","operationId":"x","operation":{"Wait":{"duration":"long"}}}');
    await page
      .getByText(/^line 1: /)
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Run' }).isDisabled()).toBe(true);
    await visit.go('/console/workflows/executions');
    await page.getByRole('link', { name: /first-look/ }).waitFor();
    visit.expectHarmless();
  });

  test('a tool is called from a form made of its schema', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/tools');
    await page.getByLabel('Search').fill('say');
    await page.getByRole('link', { name: /^say/ }).click();
    await page.getByLabel(/content/).fill('by a form');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText('succeeded').waitFor();
    await page.getByText('Result', { exact: true }).last().click();
    await page.getByText('by a form').last().waitFor();
    visit.expectHarmless();
  });

  test('a changed MCP tool is shown as a difference, refused, and accepted after another look', async () => {
    const client = createClient({ url: system.url, key: agent });
    const call = (method: string, params: object) => client.send({ method, params: { ...params } }, { agent: 'tools' });
    expect((await call('bad__echo', { say: 'aa' }).final()).status).toBe('succeeded');
    await call('bad__change', {}).final();
    await using visit = await open();
    const { page } = visit;
    await visit.go('/');
    await page.getByRole('link', { name: /bad__echo has changed/ }).click();
    await page.locator('.diff .removed').first().waitFor();
    await page.locator('.diff .added').first().waitFor();
    await page.getByRole('button', { name: 'Refuse it' }).click();
    await page.getByText('This change was refused').waitFor();
    expect((await call('bad__echo', { say: 'aa' }).final()).status).toBe('failed');
    await page.getByRole('button', { name: 'Accept the change' }).click();
    await page.getByText('The definition has changed').waitFor({ state: 'detached' });
    expect((await call('bad__echo', { say: 'aa' }).final()).status).toBe('succeeded');
    await visit.go('/console/tools');
    await page.locator('summary', { hasText: 'bad' }).click();
    await page.getByLabel('Log of bad').getByText('a tool has changed and is blocked').waitFor();
    expect(await visit.violations()).toEqual([]);
    visit.expectHarmless();
  });

  test('a callback that was given up is shown, and tried again', async () => {
    const client = createClient({ url: system.url, key: agent });
    const from = { name: 'Ada', callbackUrl: 'https://127.0.0.1:9/answer' };
    await client.mailbox.send({ from, to: { name: 'echo' }, message: 'call me' });
    await using visit = await open();
    const { page } = visit;
    await visit.go('/');
    await page.getByRole('link', { name: /given up/ }).click();
    expect(page.url()).toContain('/console/outbox?state=dead');
    await page.getByRole('button', { name: 'Try again now' }).click();
    await page.locator('section.panel ol li').nth(1).waitFor({ state: 'attached' });
    await page.getByText('What is sent').click();
    await page
      .getByRole('region', { name: /What is sent of/ })
      .getByText('webhook-id')
      .waitFor();
    await page.getByRole('button', { name: 'All to this host' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'All to this host' }).click();
    await page.locator('section.panel ol li').nth(2).waitFor({ state: 'attached' });
    await client.mailbox.send({
      from: 'Ada',
      to: { name: 'echo' },
      message: 'of a *plan*',
      metadata: { threadId: 'plans' },
    });
    await visit.go('/console/mailbox');
    await page.getByRole('link', { name: /plans/ }).click();
    await page.getByRole('log').locator('em', { hasText: 'plan' }).first().waitFor();
    expect(await visit.violations()).toEqual([]);
    await visit.go('/console/keys');
    await page
      .getByRole('row', { name: /failed .* ada POST 127\.0\.0\.1:9/ })
      .first()
      .waitFor();
    visit.expectHarmless();
  });

  test('a key is created, shown once, and revoked after a question', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/console/keys');
    await page.getByLabel('Agent id').fill('ada');
    await page.getByLabel('What it is for').fill('made in the console');
    await page.getByLabel('Expires after').selectOption('30 days');
    await page.keyboard.press('Enter');
    const key = await page.locator('.notice code').innerText();
    const client = createClient({ url: system.url, key });
    expect((await client.workflows.limits()).agent_id).toBe('ada');
    const row = page.getByRole('row', { name: /made in the console/ });
    await row.getByText('in 30 d').or(row.getByText('in 29 d')).waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
    await expect(client.workflows.limits()).rejects.toMatchObject({ status: 401 });
    visit.expectHarmless();
  });

  test('everything on the way to an answer can be done with the keyboard alone', async () => {
    await using visit = await open();
    const { page } = visit;
    await visit.go('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const focused = () => page.evaluate('document.activeElement.textContent') as Promise<string>;
    const tabTo = async (text: string) => {
      for (let step = 0; step < 40; step++) {
        await page.keyboard.press('Tab');
        if ((await focused()).trim() === text) return;
      }
      throw new Error(`the keyboard does not reach ${text}`);
    };
    await tabTo('Chat');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Chat' }).waitFor();
    await page.getByRole('textbox').waitFor();
    for (let step = 0; step < 40; step++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.tagName')) === 'TEXTAREA') break;
    }
    await page.keyboard.type('typed');
    await page.keyboard.press('Enter');
    await page.locator('.turn:not(.mine)', { hasText: 'typed' }).waitFor();
    visit.expectHarmless();
  });
});

const MCP_SERVER = fileURLToPath(
  new URL('../../packages/core/src/tools/fixtures/hostile-mcp-server.mjs', import.meta.url),
);

/** A server that is started again listens at the same port. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
