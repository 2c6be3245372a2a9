import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moduleAgent, System } from '../system/system.ts';
import { ConsolePage, findBrowser } from './browser.ts';

const { browser } = await findBrowser();
afterAll(() => browser?.close());

describe.skipIf(browser === undefined)('the console', () => {
  if (browser === undefined) return;
  let system: System;
  let agent = '';
  beforeAll(async () => {
    const config = { port: await freePort(), default_agent: 'echo', agents: { echo: moduleAgent('echo') } };
    system = await System.start({ config });
    agent = (await system.caller('ada')).api_key;
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test('asks for a key, shows why one is refused, and signs in with a good one', async () => {
    await using visit = await ConsolePage.open(browser, { url: system.url });
    const { page } = visit;
    await visit.go('/');
    expect(await visit.violations()).toEqual([]);
    await page.getByLabel('API key').fill('sk_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('unauthenticated').waitFor();
    await page.getByLabel('API key').fill(system.adminKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.evaluate('JSON.stringify([document.cookie, { ...localStorage }])')).toBe('["",{}]');
    visit.expectHarmless();
  });

  test('a link with a one-time token signs in once, and the token leaves the address', async () => {
    await using first = await ConsolePage.open(browser, { url: system.url });
    await first.go(system.signInPath);
    await first.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(first.page.url()).toBe(`${system.url}/`);
    await first.page.reload();
    await first.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await using second = await ConsolePage.open(browser, { url: system.url });
    await second.go(system.signInPath);
    await second.page.getByText('The sign-in link was used before, or has expired.').waitFor();
    expect(system.log).not.toContain(system.signInPath.slice('/#token='.length));
  });

  test('pages have addresses of their own, and the back button returns', async () => {
    await using visit = await ConsolePage.open(browser, { url: system.url, admin: system.adminKey, agent });
    const { page } = visit;
    await visit.go('/console/agents');
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    expect(page.url()).toBe(`${system.url}/console/tools`);
    await page.goBack();
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor();
    await visit.go('/console/nowhere');
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    visit.expectHarmless();
  });

  test('a lost connection is shown, and heals without a reload', async () => {
    await using visit = await ConsolePage.open(browser, { url: system.url, admin: system.adminKey });
    const { page } = visit;
    await visit.go('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await system.stop();
    await page.getByText('The connection to the server is lost.').waitFor();
    await system.start();
    await page.getByText('The connection to the server is lost.').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('files are served with a strict policy, and compressed; other clients get JSON', async () => {
    const page = await fetch(system.url, { headers: { Accept: 'text/html' } });
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=/);
    const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
    const asset = await fetch(system.url + script);
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect(asset.headers.get('content-encoding')).toBe('gzip');
    expect(await (await fetch(system.url)).json()).toMatchObject({ service: 'dragoman', openapi: '/openapi.json' });
    for (const path of ['/console/assets/..%2f..%2ffiles.json', '/console/assets/x.js']) {
      expect((await fetch(system.url + path)).status, path).toBe(404);
    }
  });
});

/** A server that is started again listens at the same port. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
