import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@dragoman/client';
import { connectWire, httpWire } from '@dragoman/client/wire';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../../packages/cli/bin/dragoman.js', import.meta.url));
const module = (name: string) => fileURLToPath(new URL(`../system/agents/${name}.mjs`, import.meta.url));

test('the built server runs on the newest Node, and each Node reads what the other has written', {
  timeout: 300_000,
}, async ({ skip, annotate }) => {
  const newest = newestNode();
  if (!newest.ok) {
    console.warn(`Not tested on the newest Node: ${newest.reason}`);
    return skip(newest.reason);
  }
  await annotate(`Node ${newest.version}`);
  await using server = new BuiltServer();

  const key = await server.run(process.execPath, async (url) => {
    const definition = { agent_id: 'ada', permissions: { agents: ['echo'], tools: ['say'], operations: ['*'] } };
    const { api_key = '' } = await createClient({ url, key: server.adminKey }).admin.agents.put(definition);
    await expectEverything(url, { key: api_key, name: 'first' });
    return api_key;
  });

  await server.run(newest.path, async (url) => {
    await expectRecorded(createClient({ url, key }), 'first');
    await expectEverything(url, { key, name: 'second' });
  });

  await server.run(process.execPath, async (url) => {
    for (const name of ['first', 'second']) await expectRecorded(createClient({ url, key }), name);
  });
});

/** An E2A request, a tool call and a workflow, each answered. */
async function expectEverything(url: string, { key, name }: { key: string; name: string }): Promise<void> {
  const client = createClient({ url, key });
  const request = { request_id: name, method: 'chat.send', params: { content: 'hello' } };
  expect(await client.send(request, { agent: 'echo' }).result()).toEqual({ echoed: 'hello' });

  const wire = await connectWire({ transport: httpWire({ url, key }), key });
  expect((await wire.call('say', { content: 'hello' })).data).toEqual({ echoed: 'hello' });
  await wire.close();

  expect(await client.workflows.execute(workflow(name))).toMatchObject({ status: 'success', results: RESULTS });
}

/** What this request and this workflow answered can be read, and is what it was. */
async function expectRecorded(client: Client, name: string): Promise<void> {
  expect(await client.resume(name).result()).toEqual({ echoed: 'hello' });
  const execution = await client.workflows.find(name);
  expect(execution).toMatchObject({ status: 'success', results: RESULTS });
  // The same execution again has the recorded result, with every effect checked against its checksum.
  const again = { ...execution, replayed: true, first_run_at: execution.started_at };
  expect(await client.workflows.execute(workflow(name))).toEqual(again);
}

function workflow(executionId: string): string {
  const operations = {
    say: { CallTool: { tool: 'say', arguments: { content: 'hello' }, outputPath: '/workflow/said' } },
    store: { StoreData: { inputPath: '/workflow/said', storage: 'localStorage', key: executionId } },
  };
  const updates = Object.entries(operations).map(([operationId, operation]) => ({
    type: 'operationUpdate',
    operationId,
    operation,
  }));
  const begin = { type: 'beginExecution', executionId, operationOrder: Object.keys(operations) };
  return [...updates, begin].map((message) => JSON.stringify(message)).join('\n');
}

const RESULTS = { say: { echoed: 'hello' } };

/** A data folder, and the built server on it for as long as `use` takes. */
class BuiltServer implements AsyncDisposable {
  readonly adminKey = randomBytes(24).toString('base64url');
  readonly #folder = mkdtempSync(join(tmpdir(), 'dragoman-newest-'));
  readonly #config = join(this.#folder, 'dragoman.yaml');
  #child: ChildProcess | undefined;

  constructor() {
    const agents = { echo: { driver: 'module', module: module('echo') } };
    // JSON is YAML too.
    writeFileSync(this.#config, JSON.stringify({ agents, tools: [module('tools')] }));
  }

  /** Starts the server with this Node, and stops it as an operator would; it must exit with 0. */
  async run<Result>(node: string, use: (url: string) => Promise<Result>): Promise<Result> {
    const options = ['--port', '0', '--json', '--config', this.#config, '--data', join(this.#folder, 'data')];
    const child = spawn(node, ['--disallow-code-generation-from-strings', program, 'serve', ...options], {
      env: { PATH: process.env['PATH'] ?? '', DRAGOMAN_ADMIN_KEY: this.adminKey },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
    const exited = once(child, 'close').then(([code]) => code);
    const listening = once(createInterface({ input: child.stdout }), 'line').then(([line]) => JSON.parse(line).url);
    const url = await Promise.race([listening, exited.then(() => undefined)]);
    if (url === undefined) throw new Error(`the server exited before it listened:\n${log}`);
    const result = await use(url);
    child.kill('SIGTERM');
    expect(await exited, log).toBe(0);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

type Newest = { ok: true; path: string; version: string } | { ok: false; reason: string };

/** The newest Node of the registry, which npm keeps for the next time. */
function newestNode(): Newest {
  // The package `node` only has a script that installs this one.
  const name = `node-${process.platform}-${process.arch}`;
  const found = npm(['view', `${name}@latest`, 'version', '--fetch-retries=0', '--fetch-timeout=20000']);
  if (found.status !== 0) {
    const code = /error code (\S+)/.exec(found.stderr)?.[1] ?? found.stderr;
    return { ok: false, reason: `npm view ${name} failed with ${code}` };
  }
  const version = found.stdout.trim();
  const fetched = npm(['exec', '--yes', `--package=${name}@${version}`, '--', 'node', '-p', 'process.execPath']);
  if (fetched.status !== 0) throw new Error(`${name}@${version} cannot be installed: ${fetched.stderr}`);
  return { ok: true, path: fetched.stdout.trim(), version };
}

function npm(words: readonly string[]) {
  // Outside of the repository, whose settings and packages are not meant here.
  return spawnSync('npm', words, { cwd: tmpdir(), encoding: 'utf8' });
}
