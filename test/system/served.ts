import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { inject } from 'vitest';
import type { Config } from '../../packages/server/src/config/config-schema.ts';
import { type CallOptions, call, type HttpAnswer } from './call.ts';
import { keptValues } from './kept-values.ts';
import { sharedSchema } from './shared-schema.ts';

/** `dragoman serve --json` in its own process, and the file it reads. */
export class Served implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'dragoman-served-'));
  /** Everything it has logged. */
  log = '';
  url = '';
  readonly #schema = sharedSchema();
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #events: AsyncIterator<string>;

  private constructor(configOf: (folder: string) => Config, environment: Readonly<Record<string, string>>) {
    this.write(JSON.stringify(configOf(this.folder)));
    const command = join(inject('servers').usual, 'dragoman.js');
    const args = ['serve', '--json', '--config', this.file('dragoman.yaml'), '--data', this.file('data')];
    this.#child = spawn(process.execPath, [command, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        DRAGOMAN_ADMIN_KEY: ADMIN_KEY,
        ...(this.#schema !== undefined && { DRAGOMAN_STORE: this.#schema.url }),
        ...this.#schema?.environment,
        ...environment,
      },
    });
    this.#events = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.log += text;
    });
  }

  static async start(
    configOf: (folder: string) => Config,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Served> {
    const served = new Served(configOf, environment);
    served.url = (await served.event<{ url: string }>('listening')).url;
    return served;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Rewrites its configuration without a reload. */
  write(text: string): void {
    writeFileSync(this.file('dragoman.yaml'), text);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The next event of this name on its standard output. */
  async event<Event>(name: string): Promise<Event> {
    for (;;) {
      const { value, done } = await this.#events.next();
      if (done === true) throw new Error(`it ended before the event ${name}: ${this.log}`);
      const event = JSON.parse(value);
      if (event.event === name) return event;
    }
  }

  /** Sends a request with the admin key. */
  admin(options: Pick<CallOptions, 'method' | 'path' | 'json'>): Promise<HttpAnswer> {
    return call(this.url, { ...options, key: ADMIN_KEY });
  }

  /** Makes a caller that may do everything, and gives back its key. */
  async caller(agentId: string): Promise<string> {
    const permissions = { agents: ['*'], tools: ['*'], operations: ['*'], apis: ['*'], workflows: ['*'] };
    const json = { agent_id: agentId, permissions };
    const answer = await call(this.url, { method: 'POST', path: '/admin/v1/agents', key: ADMIN_KEY, json });
    return ((await answer.json()) as { api_key: string }).api_key;
  }

  /** Everything it keeps, by place: files, and tables if it is on PostgreSQL. */
  kept(): Promise<Map<string, Buffer>> {
    return keptValues(this.file('data'), this.#schema?.url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL');
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const ADMIN_KEY = 'adm_served_0123456789abcdef';
