import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { THREADS } from '../../packages/core/src/worker-threads/threads.ts';
import { Publication } from '../../scripts/publication.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A project of somebody else's, with the packages as npm would install them. */
let consumer = '';
let publication: Publication;
const installed = (name: string) => publication.installed(name);

beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), 'dragoman-consumer-'));
  publication = new Publication(consumer);
}, 120_000);

afterAll(() => rmSync(consumer, { recursive: true, force: true }));

test('the packed packages have everything that a publication needs', async () => {
  expect(publication.names).toContain('a2a-messages-schemas');
  expect(publication.names).not.toContain('console');
  expect(await publication.problems()).toEqual([]);
});

test('a package that could not be published is reported with every problem', async () => {
  const path = join(installed('client'), 'package.json');
  const text = readFileSync(path, 'utf8');
  const { homepage: _, ...manifest } = JSON.parse(text);
  writeFileSync(
    path,
    JSON.stringify({ ...manifest, version: '0.0.9', dependencies: { '@dragoman/console': '^0.1.0' } }),
  );
  rmSync(join(installed('client'), 'LICENSE'));
  try {
    const problems = (await publication.problems()).filter((problem) => problem.startsWith('client: '));
    expect(problems).toEqual(
      expect.arrayContaining([
        'client: package.json has no "homepage"',
        'client: "version" is "0.0.9"; the root package.json has "0.1.0"',
        'client: @dragoman/console is not pinned: ^0.1.0',
        'client: it depends on @dragoman/console, which is private',
        'client: LICENSE is not packed',
      ]),
    );
  } finally {
    writeFileSync(path, text);
    copyFileSync(join(root, 'packages/client/LICENSE'), join(installed('client'), 'LICENSE'));
  }
});

describe('the schema package, installed alone', () => {
  test('has its types, and its validator refuses an invalid message', () => {
    const project = join(consumer, 'only-schemas');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    execFileSync(
      'npm',
      ['install', '--offline', '--no-audit', '--no-fund', '--silent', publication.tarball('a2a-messages-schemas')],
      {
        cwd: project,
      },
    );
    expect(readdirSync(join(project, 'node_modules/@dragoman'))).toEqual(['a2a-messages-schemas']);
    writeFileSync(join(project, 'use.ts'), SCHEMA_USES);
    const options = {
      module: 'nodenext',
      target: 'es2023',
      strict: true,
      noEmit: true,
      types: [],
      skipLibCheck: false,
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['use.ts'] }));
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), { cwd: project, encoding: 'utf8' });
    expect(stdout).toBe('');
    writeFileSync(join(project, 'use.mjs'), SCHEMA_LOADS);
    const output = execFileSync(process.execPath, ['use.mjs'], { cwd: project, encoding: 'utf8' });
    expect(output).toMatch(/^false \/\S* ?: .+\n$/);
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

const SCHEMA_USES = `
import { type BaseMessage, type ErrorCode, type ErrorPayload, SchemaValidator, type SuccessPayload } from '@dragoman/a2a-messages-schemas';

type IsAny<T> = 0 extends 1 & T ? true : false;
const never: readonly false[] = [
  false as IsAny<BaseMessage>, false as IsAny<ErrorCode>, false as IsAny<ErrorPayload>, false as IsAny<SuccessPayload>,
];
const payload: SuccessPayload = { status: 'success', data: {} };
// @ts-expect-error an error payload has an error
const wrong: ErrorPayload = { status: 'error' };
const sender: string = ({} as BaseMessage).sender_id;
export { never, payload, sender, SchemaValidator, wrong };
`;

const SCHEMA_LOADS = `
import { SchemaValidator } from '@dragoman/a2a-messages-schemas';
const { valid, errors } = new SchemaValidator().validate({ message_type: 'request' });
console.log(valid, errors[0]);
`;
