import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import type { Config } from '../../packages/server/src/config/config-schema.ts';
import { call } from './call.ts';
import { keptValues } from './kept-values.ts';
import { sharedSchema } from './shared-schema.ts';

export interface SystemOptions {
  readonly config?: Config;
  /** With a store thread that dies at crash points. */
  readonly crashPoints?: boolean;
  /** Why its store is the embedded one, whatever that of the other tests is. */
  readonly needsFolder?: string | undefined;
  /** How many files and sockets its process may have open. */
  readonly openFiles?: number;
}

/**
 * The real server in its own process, with a data folder that outlives it. It can be killed and started again;
 * disposing of it leaves no process and no file behind.
 */
export class System implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'dragoman-system-'));
  readonly adminKey = `adm_${randomBytes(16).toString('hex')}`;
  /** Everything the server has logged, over all its lives. */
  log = '';
  url = '';
  /** Where A2A messages come in over TCP, if they do. */
  messagesUrl = '';
  /** The TCP address of the A2E wire, if it is open. */
  wireUrl = '';
  /** The path that opens the console as the administrator, once. */
  signInPath = '';
  /** The folder of its code. Another one counts from its next start. */
  code: string;
  readonly #store: string | undefined;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #openFiles: number | undefined;
  readonly #configPath = join(this.folder, 'dragoman.yaml');
  #child: ChildProcess | undefined;
  #exited: Promise<Exit> | undefined;

  private constructor({ config = {}, crashPoints = false, needsFolder, openFiles }: SystemOptions) {
    this.#openFiles = openFiles;
    const reason = crashPoints ? 'only the thread of the embedded store has crash points' : needsFolder;
    const shared = config.store === undefined ? sharedSchema(reason) : undefined;
    this.#store = shared?.url;
    this.#environment = shared?.environment ?? {};
    const { usual, crashing } = inject('servers');
    this.code = crashPoints ? crashing : usual;
    // JSON is YAML too.
    writeFileSync(this.#configPath, JSON.stringify({ port: 0, limits: NO_LIMITS, store: this.#store, ...config }));
  }

  static create(options: SystemOptions = {}): System {
    return new System(options);
  }

  static async start(options: SystemOptions = {}): Promise<System> {
    const system = System.create(options);
    try {
      await system.start();
      return system;
    } catch (error) {
      await system[Symbol.asyncDispose]();
      throw error;
    }
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  /** The file of the `dragoman` command. */
  get command(): string {
    return join(this.code, 'dragoman.js');
  }

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get host(): string {
    return new URL(this.url).host;
  }

  /** Starts it and waits until it listens. */
  async start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    if (!(await this.begin(environment)))
      throw new Error(`the server ended before it listened: ${this.log.slice(-2000)}`);
  }

  /** Starts it, and returns whether it listened before it ended. */
  begin(environment: Readonly<Record<string, string>> = {}): Promise<boolean> {
    if (this.#child !== undefined) throw new Error('the server is running already');
    const server = [join(this.code, 'server-process.js'), this.#configPath, this.data];
    const run = [process.execPath, '--disallow-code-generation-from-strings', ...server];
    const limited = ['sh', '-c', `ulimit -n ${this.#openFiles}; exec "$@"`, 'sh', ...run];
    const [command = '', ...words] = this.#openFiles === undefined ? run : limited;
    const child = spawn(command, words, {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Nothing of this process's own settings: certificates to read alone cost a tenth of a second.
      env: {
        PATH: process.env['PATH'] ?? '',
        DRAGOMAN_ADMIN_KEY: this.adminKey,
        DRAGOMAN_TEST_FOLDER: this.folder,
        ...this.#environment,
        ...environment,
      },
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.log += text;
    });
    this.#exited = once(child, 'close').then(([code, signal]) => {
      this.#child = undefined;
      return { code, signal };
    });
    const lines = createInterface({ input: child.stdout });
    const listening = once(lines, 'line').then(([line]) => {
      const { url, messages = '', wire = '', signIn = '' } = JSON.parse(line);
      this.url = url;
      this.messagesUrl = messages;
      this.wireUrl = wire;
      this.signInPath = signIn;
      return true;
    });
    return Promise.race([listening, this.#exited.then(() => false)]);
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Ends it as a power cut would, and waits until it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  /** Ends it as an operator would. */
  async stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited;
  }

  get exited(): Promise<Exit> {
    return this.#exited ?? Promise.resolve({ code: null, signal: null });
  }

  /** Makes a caller, and gives back its key. */
  async caller(agentId: string, definition: object = { permissions: { agents: ['*'] } }): Promise<Key> {
    const body = { agent_id: agentId, ...definition };
    const answer = await call(this.url, { method: 'POST', path: '/admin/v1/agents', key: this.adminKey, json: body });
    if (answer.status !== 201) throw new Error(`no agent was made: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Key;
  }

  /** Everything it keeps, by place: files, and tables if it is on PostgreSQL. */
  kept(): Promise<Map<string, Buffer>> {
    return keptValues(this.data, this.#store);
  }

  /** Resident memory in bytes. */
  get residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this;
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
    if (existsSync(this.folder)) throw new Error('a folder was left behind');
    if (pid > 0 && isAlive(pid)) throw new Error(`process ${pid} was left behind`);
  }
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Key {
  readonly key_id: string;
  readonly agent_id: string;
  readonly api_key: string;
}

/** The file of an agent of these tests. */
export function agentModule(name: string): string {
  return fileURLToPath(new URL(`./agents/${name}.mjs`, import.meta.url));
}

/** The same as an agent of the configuration, with default settings. */
export function moduleAgent(name: string) {
  return { driver: 'module', module: agentModule(name) } as const;
}

/** Where limits are not what is tested. */
const NO_LIMITS = {
  requests_per_minute: 1_000_000,
  requests_per_hour: 1_000_000,
  requests_per_day: 1_000_000,
  api_calls_per_minute: 1_000_000,
  api_calls_per_hour: 1_000_000,
  messages_per_minute: 100_000_000,
  message_bytes_per_minute: 100_000_000_000,
  connections_per_agent: 1_000_000,
};
