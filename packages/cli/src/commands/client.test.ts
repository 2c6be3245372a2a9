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
  test('gets a key of its own and settings beside what it had, with a backup', async () => {
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

test('settings that cannot be changed without losing their comments are left alone', async () => {
  const { server, run, place } = await served();
  await using _ = server;
  const file = KNOWN_CLIENTS['zed']?.file(place) ?? '';
  mkdirSync(dirname(file), { recursive: true });
  const text = '// mine\n{ "theme": "One" }\n';
  writeFileSync(file, text);
  expect(await run('zed', '--write')).toMatchObject({ code: 1, stderr: expect.stringContaining('yourself') });
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(server.engine.callers.find('zed')).toBeUndefined();
});

test('an unknown client is refused with the known ones, and what works with any', async () => {
  const { server, run } = await served();
  await using _ = server;
  expect(await run('emacs')).toMatchObject({ code: 2, stderr: expect.stringMatching(/claude-code.*zed/) });
});

test.each([
  ['an entry of the same name', '[mcp_servers.dragoman]\ncommand = "old"\n\n[mcp_servers.other]\ncommand = "x"\n'],
  ['another table', '[mcp_servers.other]\ncommand = "x"\n'],
])('TOML with %s keeps the other tables', (_, text) => {
  const edited = withServer({ format: 'toml', member: 'mcp_servers' }, text, 'dragoman', { command: 'node' }) ?? '';
  expect(edited).toContain('[mcp_servers.dragoman]\ncommand = "node"\n');
  expect(edited).toContain('[mcp_servers.other]\ncommand = "x"\n');
  expect(edited.match(/dragoman/g)).toHaveLength(1);
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
