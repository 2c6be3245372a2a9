import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { jsonLog, parseYaml, startServer, systemClock, systemIds } from '@dragoman/server';
import { describe, expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { KNOWN_CLIENTS, placeIn } from '../client/known-clients.ts';
import { withServer } from '../client/with-server.ts';
import { main } from '../main.ts';

const ADMIN_KEY = 'dgm_brought_along_by_the_operator';

async function served() {
  const folder = temporaryFolder();
  const server = await startServer({
    config: { port: 0, store: 'memory' },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: jsonLog('silent'),
    adminKey: ADMIN_KEY,
  });
  const environment = { HOME: folder, DRAGOMAN_ADMIN_KEY: ADMIN_KEY };
  const run = async (...args: string[]) => {
    const surroundings = new FakeSurroundings({ folder, environment });
    const code = await main(['client', 'connect', ...args, '--url', server.url], surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };
  return { server, folder, run, place: placeIn({ environment }, process.platform) };
}

test('without --write the settings are shown, and nothing is made', async () => {
  const { server, folder, run } = await served();
  await using _ = server;
  const { code, stdout, stderr } = await run('cursor');
  expect(code).toBe(0);
  const { args } = JSON.parse(stdout).mcpServers.dragoman;
  expect(args.slice(1)).toEqual([
    'mcp',
    '--server',
    server.url,
    '--key-file',
    join(folder, '.dragoman/keys/cursor.key'),
  ]);
  expect(stderr).toContain('Nothing was written.');
  expect(readdirSync(folder)).not.toContain('.cursor');
  expect(server.engine.callers.find('cursor')).toBeUndefined();
});

describe.each(Object.keys(KNOWN_CLIENTS))('%s', (name) => {
  test('gets its own key and settings beside what it had, with a backup', async () => {
    const { server, run, place } = await served();
    await using _ = server;
    const client = KNOWN_CLIENTS[name];
    if (client === undefined) throw new Error('no such client');
    const file = client.file(place);
    mkdirSync(dirname(file), { recursive: true });
    const before = BEFORE[client.format];
    writeFileSync(file, before);
    expect(await run(name, '--write')).toMatchObject({ code: 0, stderr: expect.stringContaining(`Wrote ${file}`) });
    const after = readFileSync(file, 'utf8');
    const backup = readdirSync(dirname(file)).find((one) => one.endsWith('.bak'));
    expect(readFileSync(join(dirname(file), backup ?? ''), 'utf8')).toBe(before);
    const keyFile = join(place.home, '.dragoman', 'keys', `${name}.key`);
    expect(after).toContain(keyFile);
    const settings = parsed(client.format, after);
    expect(settings).toMatchObject({ kept: { a: 1 }, [client.member]: { dragoman: expect.anything() } });
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const found = server.engine.keys.find(readFileSync(keyFile, 'utf8').trim());
    expect(found?.agentId).toBe(name);
    // Once more: another key for the same caller, and the settings are the same.
    expect((await run(name, '--write')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(after);
  });
});

test('the change is shown before it is written, and comments and trailing commas stay', async () => {
  const { server, run, place } = await served();
  await using _ = server;
  const file = KNOWN_CLIENTS['zed']?.file(place) ?? '';
  mkdirSync(dirname(file), { recursive: true });
  const text = '// mine\n{\n  "theme": "One", // light\n  /* none */\n}\n';
  writeFileSync(file, text);
  const { code, stdout } = await run('zed', '--write');
  expect(code).toBe(0);
  const after = readFileSync(file, 'utf8');
  expect(after).toContain('  "theme": "One", // light\n  /* none */\n  "context_servers": {\n    "dragoman": {\n');
  const added = stdout.split('\n').filter((line) => line.startsWith('+ '));
  expect(stdout.split('\n').filter((line) => line.startsWith('- '))).toEqual([]);
  expect(after).toBe(
    text.replace('  /* none */\n', `  /* none */\n${added.map((line) => `${line.slice(2)}\n`).join('')}`),
  );
  const again = await run('zed', '--write');
  expect([again.stdout, readFileSync(file, 'utf8')]).toEqual(['Settings unchanged.\n', after]);
});

test('a client that is known keeps its permissions unless they are given, and its earlier keys are named', async () => {
  const { server, run } = await served();
  await using _ = server;
  await server.engine.callers.put({ agent_id: 'desk', permissions: {} });
  expect((await run('cursor', '--write')).code).toBe(0);
  const before = (await server.engine.keys.list()).filter(({ agentId }) => agentId === 'cursor');
  const narrowed = await run('cursor', '--write', '--agents', 'desk', '--tools', '', '--workflows', '');
  const cursor = () => server.engine.callers.find('cursor');
  expect(cursor()).toMatchObject({ permissions: { agents: ['desk'], tools: [], workflows: [] } });
  expect(narrowed.stderr).toContain('may use: agents desk; tools none; workflows none; operations none');
  expect(narrowed.stderr).toContain('  changed  permissions.agents: desk, was *\n');
  expect(narrowed.stderr).toContain(`keys revoke ${before[0]?.keyId}\n`);
  expect((await run('cursor', '--write')).code).toBe(0);
  expect(cursor()).toMatchObject({ permissions: { agents: ['desk'] } });
  expect((await run('cursor', '--write', '--agents', 'desc')).stderr).toContain(
    'warning: there is no agent "desc" yet; did you mean desk?',
  );
});

test('settings of another form are left alone', async () => {
  const { server, run, place } = await served();
  await using _ = server;
  const file = KNOWN_CLIENTS['zed']?.file(place) ?? '';
  mkdirSync(dirname(file), { recursive: true });
  for (const text of ['{ "theme": ', '[]', '{ "context_servers": 7 }']) {
    writeFileSync(file, text);
    expect(await run('zed', '--write')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/yourself[\s\S]*agents add zed --may-call '\*'/),
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  expect(server.engine.callers.find('zed')).toBeUndefined();
});

test('a name that a settings file cannot have is refused', async () => {
  const { server, run } = await served();
  await using _ = server;
  expect(await run('codex', '--name', 'my server]')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--name'),
  });
});

test('an unknown client is refused with the known ones, and what works with any', async () => {
  const { server, run } = await served();
  await using _ = server;
  expect(await run('emacs')).toMatchObject({ code: 2, stderr: expect.stringMatching(/claude-code.*zed/) });
});

const ENTRY = { command: 'node', args: ['a', 'b'] };

describe('JSON', () => {
  const json = { format: 'json', member: 'mcpServers' } as const;

  test.each([
    [
      'no servers',
      '{}',
      '{\n  "mcpServers": {\n    "dragoman": {\n      "command": "node",\n      "args": [\n        "a",\n        "b"\n      ]\n    }\n  }\n}',
    ],
    ['an empty object of servers', '{"mcpServers":{}}', undefined],
    [
      'a list in one line, which stays in one line',
      '{\n  "list": [1, 2],\n  "mcpServers": { "x": {"command": "y"} }\n}\n',
      '"list": [1, 2],',
    ],
    [
      'a comment behind the last entry',
      '{\n\t"mcpServers": {\n\t\t"x": {} // mine\n\t}\n}\n',
      '"x": {}, // mine\n\t\t"dragoman": {\n\t\t\t"command"',
    ],
    ['a trailing comma', '{\n  "mcpServers": {\n    "x": {},\n  },\n}\n', '"x": {},\n    "dragoman": {'],
    ['braces and slashes in texts', '{ "a}": "// {", "mcpServers": { "\\"{": {} } }', undefined],
    ['a byte order mark', '\uFEFF{ "a": 1 }', undefined],
    ['the name at another place', '{ "dragoman": { "command": "x" }, "mcpServers": {} }', undefined],
    ['lines of Windows', '{\r\n  "a": 1\r\n}\r\n', '"a": 1,\r\n  "mcpServers": {\r\n'],
  ])('with %s gets the entry and keeps the rest', (_, text, expected) => {
    const edited = withServer(json, text, 'dragoman', ENTRY) ?? '';
    if (expected !== undefined) expect(edited).toContain(expected);
    const plain = (given: string) => JSON.parse(given.replace(/^\uFEFF/, '').replaceAll(/ \/\/ mine|,(?=\s*})/g, ''));
    const before = plain(text);
    expect(plain(edited)).toEqual({ ...before, mcpServers: { ...before.mcpServers, dragoman: ENTRY } });
    expect(withServer(json, edited, 'dragoman', ENTRY)).toBe(edited);
  });

  test('with an entry of the same name keeps what a user added to it, but nothing of a URL', () => {
    const own = { command: 'old', args: [], env: { A: '1' } };
    const edit = (entry: object) =>
      JSON.parse(withServer(json, JSON.stringify({ mcpServers: { dragoman: entry, x: 1 } }), 'dragoman', ENTRY) ?? '');
    expect(edit(own)).toEqual({ mcpServers: { dragoman: { ...own, ...ENTRY }, x: 1 } });
    expect(edit({ url: 'http://x/mcp' })).toEqual({ mcpServers: { dragoman: ENTRY, x: 1 } });
  });
});

describe('TOML', () => {
  const toml = { format: 'toml', member: 'mcp_servers' } as const;
  const table = '[mcp_servers.dragoman]\ncommand = "node"\nargs = ["a","b"]\n';

  test.each([
    ['an entry of the same name', '[mcp_servers.dragoman]\ncommand = "old"\n\n[mcp_servers.other]\ncommand = "x"\n'],
    ['another table', '[mcp_servers.other]\ncommand = "x"\n'],
  ])('with %s keeps the other tables', (_, text) => {
    const edited = withServer(toml, text, 'dragoman', ENTRY) ?? '';
    expect(edited).toContain(table);
    expect(edited).toContain('[mcp_servers.other]\ncommand = "x"\n');
    expect(edited.match(/dragoman/g)).toHaveLength(1);
  });

  test('with an entry of the same name keeps what a user added to it', () => {
    const text =
      '[ mcp_servers."dragoman" ] # ours\ncommand = "old"\nargs = [\n  "x",\n]\ntool_timeout_sec = 9\n\n[mcp_servers.dragoman.env]\nA = "1"\n';
    const edited = withServer(toml, text, 'dragoman', ENTRY);
    expect(edited).toBe(`${table}tool_timeout_sec = 9\n\n[mcp_servers.dragoman.env]\nA = "1"\n`);
  });

  test.each([
    'args = ["a]b",\n  "c"]\n',
    "args = [ # ]\n  'a]b',\n]\n",
    '"command" = "old" # "ours"\nargs = []\n',
    'command = "an \\"old\\" one"\r\nargs = ["x"]\r\n',
  ])('with an entry of the same name replaces each of its values to its end: %j', (values) => {
    const text = `[mcp_servers.dragoman]\n${values}b = 1\n`;
    expect(withServer(toml, text, 'dragoman', ENTRY)).toBe(`${table}b = 1\n`);
  });

  test.each([
    ['a list of lists', 'args = [\n  ["x"],\n]\n'],
    ['a text over several lines', 'command = """\nold"""\n'],
    ['a list of its own that looks like a table', 'tools = [\n  ["x"]\n]\nargs = ["y"]\n'],
  ])('with an entry of the same name is left alone when it has %s', (_, values) => {
    expect(withServer(toml, `[mcp_servers.dragoman]\n${values}`, 'dragoman', ENTRY)).toBeUndefined();
  });

  test.each(['mcp_servers = { other = { command = "x" } }\n', 'mcp_servers.other.command = "x"\n'])(
    'to which no table can be added is left alone: %s',
    (text) => expect(withServer(toml, text, 'dragoman', ENTRY)).toBeUndefined(),
  );
});

describe('YAML', () => {
  const yaml = { format: 'yaml', member: 'extensions' } as const;
  const entry = { enabled: true, cmd: 'node' };

  test('with an entry of the same name keeps what a user added to it, and everything else', () => {
    const text =
      '# mine\nextensions:\n  dragoman:\n    cmd: old\n    envs:\n      A: b\n\n  developer: # own\n    enabled: false\nGOOSE_MODE: auto';
    const edited = withServer(yaml, text, 'dragoman', entry) ?? '';
    expect(parseYaml(edited)).toMatchObject({
      value: {
        extensions: { dragoman: { cmd: 'node', enabled: true, envs: { A: 'b' } }, developer: { enabled: false } },
        GOOSE_MODE: 'auto',
      },
    });
    expect(edited).toMatch(/^# mine\n[\s\S]*developer: # own/);
  });

  test.each([
    ['in one line', 'extensions: { developer: { enabled: true } }\n'],
    ['that are a list', 'extensions:\n  - x\n'],
    ['that are not YAML', 'extensions: [\n'],
  ])('with servers %s is left alone', (_, text) => {
    expect(withServer(yaml, text, 'dragoman', entry)).toBeUndefined();
  });
});

const BEFORE = {
  json: '{\n  "kept": { "a": 1 }\n}\n',
  toml: '[kept]\na = 1\n',
  yaml: '# mine\nkept: { a: 1 }\nextensions:\n  developer:\n    enabled: true\n',
};

function parsed(format: keyof typeof BEFORE, text: string): unknown {
  if (format === 'json') return JSON.parse(text);
  // No library of ours reads TOML: its two tables as they were written.
  if (format === 'toml') {
    expect(text).toMatch(/^\[kept\]\na = 1\n\n\[mcp_servers\.dragoman\]\ncommand = ".+"\nargs = \[.+\]\n$/);
    return { kept: { a: 1 }, mcp_servers: { dragoman: true } };
  }
  expect(text).toContain('# mine');
  const read = parseYaml(text);
  return read.ok ? read.value : undefined;
}
