import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** A real browser, or the reason why it is missing. */
export type FoundBrowser = { readonly browser: Browser } | { readonly browser: undefined; readonly reason: string };

/** The browser of `CHROME_PATH`, the system's, or the one that `npm ci` has installed. */
export async function findBrowser(): Promise<FoundBrowser> {
  const reasons: string[] = [];
  for (const [name, options] of [
    ['CHROME_PATH', () => process.env['CHROME_PATH']],
    ['the system', () => SYSTEM.find((path) => existsSync(path))],
    ['@sparticuz/chromium', installed],
  ] as const) {
    try {
      const executablePath = await options();
      if (executablePath === undefined || executablePath === '') continue;
      return { browser: await chromium.launch({ executablePath, args: ARGUMENTS }) };
    } catch (error) {
      reasons.push(`${name}: ${String(error).split('\n')[0]}`);
    }
  }
  const reason = `No browser could be started. ${reasons.join('; ')}`;
  console.warn(reason);
  return { browser: undefined, reason };
}

/** Made for containers without a display or root; it unpacks itself into the temporary folder. */
async function installed(): Promise<string> {
  const { default: packed } = await import('@sparticuz/chromium');
  return packed.executablePath();
}

export interface Visit {
  readonly url: string;
  /** Keys to be signed in with; none: the page asks for one. */
  readonly agent?: string | undefined;
  readonly admin?: string | undefined;
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
}

/** A page of the console that remembers everything that must not happen on it. */
export class ConsolePage implements AsyncDisposable {
  readonly page: Page;
  /** Script errors, refused resources and violations of the content security policy. */
  readonly faults: string[] = [];
  /** Requests to anywhere else than the server. */
  readonly strays: string[] = [];
  readonly dialogs: string[] = [];
  readonly #context: BrowserContext;
  readonly #url: string;

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.#context = context;
    this.page = page;
    this.#url = url;
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => {
      // A refused request is shown by the page; the browser's own line about it is not a fault of the page.
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
        this.faults.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) this.strays.push(request.url());
    });
    page.on('dialog', (dialog) => {
      this.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  }

  static async open(
    browser: Browser,
    { url, agent, admin, width = 1280, height = 800, scheme = 'light' }: Visit,
  ): Promise<ConsolePage> {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, locale: 'en-US' });
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    const keys = JSON.stringify({ ...(agent && { agent }), ...(admin && { admin }) });
    await page.addInitScript(
      `sessionStorage.getItem('dragoman-keys') ?? sessionStorage.setItem('dragoman-keys', ${JSON.stringify(keys)})`,
    );
    return new ConsolePage(context, page, url);
  }

  async go(path: string): Promise<void> {
    await this.page.goto(this.#url + path);
  }

  /** Serious and critical findings of axe-core, one line each. */
  async violations(): Promise<string[]> {
    // Run by the debugger: the page's own policy lets no script in that it did not load itself.
    await this.page.evaluate(AXE_SOURCE);
    const found = (await this.page.evaluate(
      "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ': ' + nodes.map(({ target, failureSummary }) => target.join(' ') + ' ' + failureSummary).join('; ')))",
    )) as string[];
    return found;
  }

  /** Whether the page is wider than the window. */
  async overflows(): Promise<boolean> {
    return (await this.page.evaluate('document.documentElement.scrollWidth > innerWidth')) as boolean;
  }

  expectHarmless(): void {
    expect({ faults: this.faults, strays: this.strays, dialogs: this.dialogs }).toEqual({
      faults: [],
      strays: [],
      dialogs: [],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}

const { source: AXE_SOURCE } = (await import('axe-core')).default;

const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--headless=new', '--disable-dev-shm-usage'];
