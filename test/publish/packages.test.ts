import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { THREADS } from '../../packages/core/src/threads/threads.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const names = readdirSync(join(root, 'packages')).filter((name) => !manifestOf(name).private);

function manifestOf(name: string): { readonly private?: boolean } {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
}

/** A project of somebody else's, with the packages as npm would give them. */
let consumer = '';
const installed = (name: string) => join(consumer, 'node_modules/@dragoman', name);

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), 'dragoman-consumer-'));
  mkdirSync(join(consumer, 'node_modules/@dragoman'), { recursive: true });
  for (const entry of readdirSync(join(root, 'node_modules'))) {
    if (entry.startsWith('.') || entry === '@dragoman') continue;
    symlinkSync(join(root, 'node_modules', entry), join(consumer, 'node_modules', entry));
  }
  execFileSync('npm', ['pack', '--workspaces', '--silent', '--pack-destination', consumer], { cwd: root });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of names) {
    mkdirSync(installed(name));
    const tarball = join(consumer, `dragoman-${name}-${version}.tgz`);
    execFileSync('tar', ['-xzf', tarball, '-C', installed(name), '--strip-components=1']);
  }
}, 120_000);

afterAll(() => rmSync(consumer, { recursive: true, force: true }));

describe.each(names)('@dragoman/%s', (name) => {
  test('has what it should, and nothing of ours', () => {
    const files = readdirSync(installed(name), { recursive: true, encoding: 'utf8' });
    for (const needed of ['package.json', 'README.md', 'LICENSE', 'dist']) expect(files).toContain(needed);
    expect(
      files.filter((file) => /(?:\.test\.|\.contract\.|fixtures|^src\/|\.tsbuildinfo|__pycache__)/.test(file)),
    ).toEqual([]);
    expect(existsSync(join(installed(name), 'schemas'))).toBe(existsSync(join(root, 'packages', name, 'schemas')));
  });

  test('finds no fault with publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: installed(name), pack: false, strict: true });
    // The condition is for this repository alone, whose sources are not published.
    const faults = messages.filter(({ path }) => !path.includes('dragoman:source'));
    expect(faults.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
  });

  test('says what the others say of version, licence and engine', () => {
    const own = JSON.parse(readFileSync(join(installed(name), 'package.json'), 'utf8'));
    const whole = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const field of ['version', 'license', 'engines']) expect(own[field], field).toEqual(whole[field]);
    for (const [used, version] of Object.entries(own.dependencies ?? {})) {
      expect(version, used).toMatch(/^\d+\.\d+\.\d+$/);
      if (used.startsWith('@dragoman/')) expect(version).toBe(whole.version);
    }
  });
});

describe.each([
  ['node16', { module: 'node16', moduleResolution: 'node16' }],
  ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
])('a project with %s resolution', (kind, options) => {
  test('has all types', () => {
    const file = `${kind}.ts`;
    writeFileSync(join(consumer, file), USES);
    const compilerOptions = { ...options, target: 'es2023', strict: true, noEmit: true, types: ['node'] };
    const config = { compilerOptions: { ...compilerOptions, skipLibCheck: false }, files: [file] };
    writeFileSync(join(consumer, `tsconfig.${kind}.json`), JSON.stringify(config));
    writeFileSync(join(consumer, 'package.json'), '{"type":"module"}');
    const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', `tsconfig.${kind}.json`], {
      cwd: consumer,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});

test('the packages can be loaded, and the command runs, from where they are installed', () => {
  writeFileSync(join(consumer, 'load.mjs'), LOADS);
  expect(run(['load.mjs'])).toBe('echo: hello\n');
  expect(run(['node_modules/@dragoman/cli/bin/dragoman.js', '--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('every thread is where the server looks for it', () => {
  const built = readdirSync(join(installed('core'), 'dist'));
  expect(built).toEqual(expect.arrayContaining(Object.keys(THREADS).map((name) => `${name}.js`)));
});

test.each([
  ["import { createClient } from '@dragoman/client'; createClient({});", ['e2a']],
  ["import { connectWire } from '@dragoman/client/wire'; connectWire({});", ['a2e-wire', 'a2e-wire-often']],
  ["import { HostSession } from '@dragoman/protocols/a2e-wire'; new HostSession({});", ['a2e-wire', 'a2e-wire-often']],
  ["import { parseJson } from '@dragoman/protocols'; parseJson('');", []],
])('who bundles %s for a browser gets no other protocol', async (code, wanted) => {
  const { metafile, warnings } = await build({
    stdin: { contents: code, resolveDir: consumer },
    bundle: true,
    platform: 'browser',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  expect(warnings).toEqual([]);
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const made = inputs.flatMap(([path]) => /\/generated\/([\w-]+)\.js$/.exec(path)?.[1] ?? []);
  expect(made).toEqual(wanted);
});

function run(args: readonly string[]): string {
  return execFileSync(process.execPath, args, { cwd: consumer, encoding: 'utf8' });
}

/** Every entry of every package, with types that would be `any` if they were not found. */
const USES = `
import { createClient, type Client } from '@dragoman/client';
import { connectWire, streamWire } from '@dragoman/client/wire';
import { defineTool, Engine, type Handler, type Layer } from '@dragoman/core';
import { convert, DIALECTS, type Dialect, parseJson } from '@dragoman/protocols';
import { mailboxDialect } from '@dragoman/protocols/a2a-mailbox';
import { signedContent } from '@dragoman/protocols/a2a-messages';
import { HostSession } from '@dragoman/protocols/a2e-wire';
import { checkWorkflow, parseWorkflow } from '@dragoman/protocols/a2e-workflow';
import { SchemaValidator } from '@dragoman/a2a-messages-schemas';
import { type Config, startServer } from '@dragoman/server';

type IsAny<T> = 0 extends 1 & T ? true : false;
const never: readonly false[] = [
  false as IsAny<typeof createClient>, false as IsAny<typeof connectWire>, false as IsAny<typeof streamWire>,
  false as IsAny<typeof defineTool>, false as IsAny<typeof Engine>, false as IsAny<typeof convert>,
  false as IsAny<typeof mailboxDialect>, false as IsAny<typeof signedContent>, false as IsAny<typeof HostSession>,
  false as IsAny<typeof checkWorkflow>, false as IsAny<typeof parseWorkflow>, false as IsAny<typeof startServer>,
  false as IsAny<typeof parseJson>, false as IsAny<typeof SchemaValidator>, false as IsAny<Config>, false as IsAny<Handler>, false as IsAny<Layer>,
];
const client: Client = createClient({ url: 'http://127.0.0.1:7420', key: 'k' });
const first: Dialect<unknown> | undefined = DIALECTS[0];
const config: Config = { port: 0, agents: { echo: { driver: 'module', module: './echo.mjs' } } };
// @ts-expect-error a port is a number
const wrong: Config = { port: 'x' };
export { client, config, first, never, wrong };
`;

const LOADS = `
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createClient } from '@dragoman/client';
import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';

const folder = mkdtempSync('./data-');
writeFileSync('./echo.mjs', 'export default async function* ({ params }) { yield "echo: " + params.content; }');
const log = { debug() {}, info() {}, warn() {}, error() {} };
let key = '';
const server = await startServer({
  config: { port: 0, agents: { echo: { driver: 'module', module: process.cwd() + '/echo.mjs' } } },
  folder, clock: systemClock, ids: systemIds, log, onAdminKey: (given) => { key = given; },
});
const admin = createClient({ url: server.url, key }).admin;
const { api_key } = await admin.agents.put({ agent_id: 'reader', permissions: { agents: ['echo'] } });
console.log(await createClient({ url: server.url, key: api_key }).send('hello', { agent: 'echo' }).text());
await server.stop({ drainMs: 0 });
rmSync(folder, { recursive: true, force: true });
process.exit(0);
`;
