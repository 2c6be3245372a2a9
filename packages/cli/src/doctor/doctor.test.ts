import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { openSqliteStore } from '@dragoman/core';
import { afterEach, describe, expect, test } from 'vitest';
import { dragoman } from '../../test-support/dragoman-process.ts';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';
import { checkDataFolder } from './data-folder.ts';
import { checkBuild, checkNode } from './installation.ts';

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** Another program on a port of this machine. */
async function occupyPort(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).end('no web server\r\n'));
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const port = await occupyPort();
  await new Promise((resolve) => open.pop()?.close(resolve));
  return port;
}

/** An MCP server with one tool. */
const ONE_TOOL = `
  import { createInterface } from 'node:readline';
  const serverInfo = { name: 'one', version: '1' };
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
    'tools/list': () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = answers[method]?.(params);
    if (result !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });`;

async function examine(args: readonly string[], { folder = temporaryFolder(), environment = {} } = {}) {
  const surroundings = new FakeSurroundings({ folder, environment });
  const code = await main(['doctor', '--json', ...args], surroundings);
  const { ok, checks } = JSON.parse(surroundings.out);
  const find = (check: string) => checks.find((finding: { check: string }) => finding.check === check);
  return { code, ok, find };
}

test('a sound machine without a server is sound', async () => {
  const { code, ok, find } = await examine(['--port', String(await freePort())]);
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(find('node')).toMatchObject({ ok: true });
  expect(find('store').message).toContain('sqlite');
  expect(find('data').message).toContain('does not exist yet');
  expect(find('port').message).toContain('is free');
});

test('a taken port is found, with who holds it and the command that fixes it', async () => {
  const port = await occupyPort();
  const { code, find } = await examine([], { environment: { DRAGOMAN_PORT: String(port) } });
  expect(code).toBe(1);
  expect(find('port')).toMatchObject({ ok: false, fix: 'npx dragoman serve --port 0' });
  expect(find('port').message).toContain(`port ${port} on 127.0.0.1 is taken by another program`);
});

test('without --data it examines the folder of dev as well, and labels both', async () => {
  const folder = temporaryFolder();
  const data = join(folder, '.dragoman', 'dev');
  mkdirSync(data, { recursive: true });
  await using _ = await openSqliteStore({ folder: data, ballastBytes: 0, onFatal: () => {} });
  const args = ['--port', String(await freePort())];
  const both = await examine(args, { folder });
  expect(both.find('data')).toMatchObject({ ok: true, message: expect.stringContaining('.dragoman has no store yet') });
  expect(both.find('data of dev')).toMatchObject({
    ok: false,
    message: `${data} is in use by process ${process.pid}`,
  });
  const examined = await examine([...args, '--data', '.dragoman/dev'], { folder });
  expect([examined.find('data').ok, examined.find('data of dev')]).toEqual([false, undefined]);
});

test('a server that should run and does not is found', async () => {
  const { code, find } = await examine(['--url', `http://127.0.0.1:${await freePort()}`]);
  expect(code).toBe(1);
  expect(find('server')).toMatchObject({ ok: false, fix: 'start it with: npx dragoman serve' });
});

test('a bad configuration is found with line and column, and the rest is looked at all the same', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'dragoman.yaml'), 'prot: 1\n');
  const { code, find } = await examine(['--port', String(await freePort())], { folder });
  expect(code).toBe(1);
  expect(find('config').message).toMatch(/^line 1, column 1: /);
  expect(find('port')).toMatchObject({ ok: true });
});

test('a variable that makes no sense is found', async () => {
  const { code, find } = await examine(['--port', '0'], { environment: { DRAGOMAN_PORT: 'x', DRAGOMAN_STORE: 'y' } });
  expect(code).toBe(1);
  expect(find('environment')).toMatchObject({ ok: false });
});

test('missing agents of the configuration are found', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'here.mjs'), 'export default async function* () {}\n');
  writeFileSync(join(folder, 'misspelt.mjs'), '\nexport default async function* ( {\n');
  const agents = [
    '  here: { driver: module, module: ./here.mjs }',
    '  gone: { driver: module, module: ./gone.mjs }',
    '  misspelt: { driver: module, module: ./misspelt.mjs }',
    `  remote: { driver: http, url: "http://127.0.0.1:${await freePort()}/e2a" }`,
    '  program: { driver: stdio, command: no-such-program-anywhere }',
    '  node: { driver: stdio, command: node }',
  ];
  writeFileSync(
    join(folder, 'dragoman.yaml'),
    ['default_agent: heer', 'tools: [./none.mjs, ./here.mjs, ./misspelt.mjs]', 'agents:', ...agents].join('\n'),
  );
  const { code, find } = await examine(['--port', '0'], { folder, environment: { PATH: process.env['PATH'] ?? '' } });
  expect(code).toBe(1);
  expect(find('agent here')).toMatchObject({ ok: true });
  expect(find('agent node')).toMatchObject({ ok: true });
  expect(find('agent gone').message).toContain('file not found');
  expect(find('agent gone').fix).toContain(`or correct agents.gone.module in ${join(folder, 'dragoman.yaml')}`);
  expect(find('agent misspelt').message).toMatch(/misspelt\.mjs:\d+: SyntaxError: /);
  expect(find('tools none.mjs').message).toContain('file not found');
  expect(find('tools here.mjs')).toMatchObject({ ok: true });
  expect(find('tools misspelt.mjs').message).toMatch(/misspelt\.mjs:\d+: SyntaxError: /);
  expect(find('agent remote').fix).toMatch(/^start it, or correct agents\.remote\.url in /);
  expect(find('agent program').fix).toMatch(/^install it, or correct agents\.program\.command in /);
  expect(find('agent remote').message).toContain('cannot connect to');
  expect(find('agent program').message).toContain('program not found: no-such-program-anywhere');
  expect(find('default_agent').fix).toBe('did you mean here?');
});

describe('the doctor reports a refused start in the same words', () => {
  const refused = async (config: object, files: Record<string, string> = {}) => {
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'own.yaml'), JSON.stringify(config));
    return examine(['--port', '0', '--config', 'own.yaml'], { folder, environment: { XDG_RUNTIME_DIR: folder } });
  };

  test.each<[string, object, string]>([
    [
      'a tool that two things answer',
      { tools: [{ name: 'wf', http: { url: 'https://a.example' }, agent: 'a' }] },
      'it needs one of http, agent, workflow; got http and agent',
    ],
    ['an MCP server that is nowhere', { mcp_servers: { files: {} } }, 'mcp_servers.files: it needs a command to run'],
    ['a certificate that is not there', { gate: { ca: './gone.pem' } }, 'gate.ca: file not found: '],
    ['a tool file that throws', { tools: ['./throws.mjs'] }, 'no luck'],
  ])('%s', async (_, config, message) => {
    const { code, find } = await refused(config, { 'throws.mjs': "throw new Error('no luck');\n" });
    expect(code).toBe(1);
    expect(find('start')).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });

  test('MCP servers that cannot start, or lack what is wanted of them', async () => {
    const command = process.execPath;
    const { find } = await refused({
      tools: [{ name: 'ask', agent: 'desk' }],
      mcp_servers: {
        ends: { command, args: ['-e', "throw new Error('no luck')"] },
        fine: { command, args: ['--input-type=module', '-e', ONE_TOOL] },
        narrow: { command, args: ['--input-type=module', '-e', ONE_TOOL], tools: ['sayy'] },
      },
    });
    expect(find('start')).toMatchObject({ ok: true });
    expect(find('mcp ends').message).toContain('it wrote: Error: no luck');
    expect(find('mcp fine')).toMatchObject({ ok: true, message: 'is running, with 1 tool' });
    expect(find('mcp narrow').fix).toMatch(/^did you mean say\? Correct mcp_servers\.narrow in .*own\.yaml$/);
    expect(find('tool ask').message).toBe('the tool ask is answered by "desk", which is not defined under agents');
  });
});

test('the workflow of a tool is looked at as a start would', async () => {
  const folder = temporaryFolder();
  const line = (json: object) => `${JSON.stringify(json)}\n`;
  const step = (duration: number) =>
    line({ type: 'operationUpdate', operationId: 'a', operation: { Wait: { duration } } });
  const begin = line({ type: 'beginExecution', executionId: 'e', operationOrder: ['a'] });
  writeFileSync(join(folder, 'good.jsonl'), step(1) + begin);
  writeFileSync(join(folder, 'long.jsonl'), step(30_000) + begin);
  const config = (more: object) =>
    writeFileSync(
      join(folder, 'dragoman.yaml'),
      JSON.stringify({
        tools: ['good', 'long', 'gone'].map((name) => ({ name, workflow: `${name}.jsonl` })),
        ...more,
      }),
    );
  config({ workflows: { timeout_ms: 20_000 } });
  const { code, find } = await examine(['--port', '0'], { folder });
  expect(code).toBe(1);
  expect(find('tool good')).toMatchObject({ ok: true });
  expect(find('tool long').message).toMatch(/long\.jsonl cannot be run: .*20000/);
  expect(find('tool gone').message).toContain('file not found');
  // Of operations that are not built in nothing is known without running their files.
  config({ workflows: { timeout_ms: 20_000, operations: ['./own.mjs'] } });
  expect((await examine(['--port', '0'], { folder })).find('tool long')).toMatchObject({ ok: true });
});

test('the other ports of the configuration are looked at, too', async () => {
  const folder = temporaryFolder();
  const port = await occupyPort();
  writeFileSync(join(folder, 'dragoman.yaml'), `port: 0\nwire: { port: ${port} }\nmessages: { port: 0 }\n`);
  const { code, find } = await examine([], { folder });
  expect(code).toBe(1);
  expect(find('wire port').message).toContain(`port ${port} on 127.0.0.1 is taken by another program`);
  expect(find('wire port').fix).toBe('set wire.port in the configuration to another port, or to 0 for any free port');
  expect(find('messages port')).toBeUndefined();
});

test('a person sees a line for each, with the way out below what is wrong', async () => {
  const surroundings = new FakeSurroundings({ folder: temporaryFolder() });
  expect(await main(['doctor', '--port', String(await occupyPort())], surroundings)).toBe(1);
  expect(surroundings.out).toMatch(/^ok {3}node {11}Node /);
  expect(surroundings.out).toMatch(/^fail port .*\n +→ npx dragoman serve --port 0$/m);
});

test.each([
  ['20.18.3', false],
  ['18.20.0', false],
  ['20.19.0', true],
  ['22.0.0', true],
])('Node %s is new enough: %s', (version, ok) => {
  expect(checkNode(version).ok).toBe(ok);
});

test('an agent is looked for where its driver looks, even if that is not its url', async () => {
  const folder = temporaryFolder();
  const [taken, free] = [await occupyPort(), await freePort()];
  const agents = {
    helper: { driver: 'openai', base_url: `http://127.0.0.1:${taken}/v1`, model: 'm' },
    off: { driver: 'openai', base_url: `http://127.0.0.1:${free}/v1`, model: 'm' },
    partner: { driver: 'a2a', card: `http://127.0.0.1:${taken}/.well-known/agent-card.json` },
    goose: { driver: 'acp', command: process.execPath },
  };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ agents }));
  const { find } = await examine(['--port', '0'], { folder });
  for (const id of ['helper', 'partner', 'goose']) expect(find(`agent ${id}`)).toMatchObject({ ok: true });
  expect(find('agent off')).toMatchObject({ ok: false, message: `cannot connect to http://127.0.0.1:${free}/v1` });
  expect(find('agent off').fix).toContain('correct agents.off.base_url in');
});

test('the configured store is checked, not another', async () => {
  const store = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
  const { code, find } = await examine(['--port', '0'], { environment: { DRAGOMAN_STORE: store } });
  expect(code).toBe(1);
  expect(find('store')).toMatchObject({ ok: false, message: expect.stringContaining('127.0.0.1') });
  const memory = await examine(['--port', '0'], { environment: { DRAGOMAN_STORE: 'memory' } });
  expect(memory.find('store')).toMatchObject({ ok: true, message: 'in memory, gone when the server stops' });
});

test('parts that are not built are named', () => {
  expect(checkBuild((part) => part !== '@dragoman/core', false)).toEqual({
    check: 'build',
    ok: false,
    message: 'not built: @dragoman/core',
    fix: 'npm run build',
  });
  expect(checkBuild(() => true, false)).toMatchObject({ ok: true });
});

describe('the data folder', () => {
  test('with a store in it is opened and let go again', async () => {
    const folder = temporaryFolder();
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {} });
    const locked = await checkDataFolder(folder, { serverRuns: false });
    expect(locked).toMatchObject({ ok: false, message: expect.stringContaining(`process ${process.pid}`) });
    expect(await checkDataFolder(folder, { serverRuns: true })).toMatchObject({ ok: true });
    await store[Symbol.asyncDispose]();
    const free = await checkDataFolder(folder, { serverRuns: false });
    expect(free).toMatchObject({
      ok: true,
      message: `${folder}: checked the database and 0 stored files: no damage; not in use`,
    });
  });

  test('with a damaged key in it is reported with the name of the key', async () => {
    const folder = temporaryFolder();
    const store = await openSqliteStore({ folder, ballastBytes: 0, onFatal: () => {} });
    const key = {
      keyId: 'k1',
      hash: 'h',
      agentId: 'ann',
      role: 'agent',
      createdAt: 1,
      expiresAt: null,
      revokedAt: null,
    } as const;
    await store.keys.put({ ...key, description: 'needle' });
    await store[Symbol.asyncDispose]();
    const file = readFileSync(join(folder, 'dragoman.db'), 'latin1');
    writeFileSync(join(folder, 'dragoman.db'), file.replaceAll('needle', 'noodle'), 'latin1');
    const finding = await checkDataFolder(folder, { serverRuns: false });
    expect(finding).toMatchObject({ ok: false, message: `${folder}: key k1 of ann is damaged` });
  });

  test('whose database is gone is reported as lost', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'dragoman.db'), '');
    writeFileSync(join(folder, 'vault.key'), 'x');
    const finding = await checkDataFolder(folder, { serverRuns: false });
    expect(finding).toMatchObject({ ok: false, fix: expect.stringContaining('--accept-loss') });
  });

  test('with a damaged store is reported as damaged', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'dragoman.db'), 'x'.repeat(10_000));
    const finding = await checkDataFolder(folder, { serverRuns: false });
    expect(finding).toMatchObject({ ok: false, fix: expect.stringContaining('backup') });
  });

  test('whose database file was removed is reported as lost', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'vault.key'), 'x');
    const finding = await checkDataFolder(folder, { serverRuns: false });
    expect(finding).toMatchObject({ ok: false, fix: expect.stringContaining('--accept-loss') });
  });

  test('that nobody can create is refused, and nothing is left behind', async () => {
    const finding = await checkDataFolder('/proc/nope', { serverRuns: false });
    expect(finding).toMatchObject({ ok: false, message: expect.stringContaining('cannot be created') });
    const folder = temporaryFolder();
    expect(await checkDataFolder(join(folder, 'data'), { serverRuns: false })).toMatchObject({ ok: true });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that is a file is refused', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'data'), '');
    expect(await checkDataFolder(join(folder, 'data'), { serverRuns: false })).toMatchObject({ ok: false });
  });

  test('that is empty is fine, and stays so', async () => {
    const folder = join(temporaryFolder(), 'data');
    mkdirSync(folder);
    expect(await checkDataFolder(folder, { serverRuns: false })).toMatchObject({ ok: true });
  });
});

test('--probe asks each agent a real question, and reports what a crashed one wrote last', async () => {
  const folder = temporaryFolder();
  const echo = `export default async function* ({ params }) { yield 'received ' + params.content; }`;
  writeFileSync(join(folder, 'echo.mjs'), echo);
  writeFileSync(
    join(folder, 'asks.mjs'),
    `export default async function* (_, call) { await call.ask({ kind: 'permission', title: 'Go on?' }); }`,
  );
  writeFileSync(join(folder, 'broken.mjs'), `console.error('Error: no model is loaded'); process.exit(4);`);
  const agents = {
    echo: { driver: 'module', module: './echo.mjs' },
    asks: { driver: 'module', module: './asks.mjs' },
    broken: { driver: 'stdio', command: process.execPath, args: [join(folder, 'broken.mjs')] },
  };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ agents }));
  const args = ['--config', join(folder, 'dragoman.yaml'), '--port', String(await freePort())];
  const without = await examine(args, { folder });
  expect([without.code, without.find('probe echo')]).toEqual([0, undefined]);
  const { code, find } = await examine([...args, '--probe'], { folder });
  expect(code).toBe(1);
  expect(find('probe echo')).toMatchObject({ ok: true, message: expect.stringMatching(/^answered in \d+ ms$/) });
  expect(find('probe asks')).toMatchObject({
    ok: true,
    message: expect.stringMatching(/^asked a question after \d+ ms$/),
  });
  expect(find('probe broken')).toMatchObject({ ok: false });
  expect(find('probe broken').message).toContain('ended with exit code 4 (it wrote: Error: no model is loaded)');
});

test('--probe reports a model server that does not run, in a process that has nothing else to do', async () => {
  const folder = temporaryFolder();
  const agents = { t: { driver: 'openai', base_url: `http://127.0.0.1:${await freePort()}/v1`, model: 'm' } };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ agents }));
  const { code, stdout } = await dragoman(['doctor', '--probe', '--json', '--port', '0'], { folder });
  expect(code).toBe(1);
  const probe = JSON.parse(stdout).checks.find(({ check }: { check: string }) => check === 'probe t');
  expect(probe).toMatchObject({ ok: false, message: expect.stringContaining('connection refused') });
});
