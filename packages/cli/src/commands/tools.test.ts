import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@dragoman/client';
import { jsonLog, startServer, systemClock, systemIds } from '@dragoman/server';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';

const TOOLS = `
  const input = { type: 'object' };
  export const add = { name: 'add', description: 'Adds.', input, tags: ['math', 'quick'], run: () => 3 };
  export const divide = { name: 'divide', description: 'Divides.', input, tags: ['math'], run: () => 3 };
  export const slow = { name: 'slow', description: 'Waits.', input, deferred: true, run: () => new Promise(() => {}) };
  export const rare = { name: 'rare', description: 'Seldom needed.', input, deferred: true, run: () => 3 };`;
const CHANGES = fileURLToPath(new URL('../../../core/src/tools/fixtures/hostile-mcp-server.mjs', import.meta.url));

async function started() {
  const folder = temporaryFolder();
  const tools = join(folder, 'tools.mjs');
  writeFileSync(tools, TOOLS);
  const server = await startServer({
    config: {
      port: 0,
      store: 'memory',
      tools: [tools],
      mcp_servers: { odd: { command: process.execPath, args: [CHANGES, join(folder, 'notes')] } },
    },
    folder,
    clock: systemClock,
    ids: systemIds,
    log: jsonLog('silent'),
    adminKey: 'dgm_brought_along_by_the_operator',
  });
  const { admin } = createClient({ url: server.url, key: 'dgm_brought_along_by_the_operator' });
  const { api_key } = await admin.agents.put({ agent_id: 'desk', permissions: { tools: ['*'] } });
  const environment = { DRAGOMAN_KEY: api_key ?? '', DRAGOMAN_ADMIN_KEY: 'dgm_brought_along_by_the_operator' };
  const run = async (...args: string[]) => {
    const surroundings = new FakeSurroundings({ folder, environment });
    const code = await main(['tools', ...args, '--url', server.url], surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };
  const names = async (...args: string[]) => {
    const { stdout } = await run('list', '--json', ...args);
    const { tools: found } = JSON.parse(stdout) as { tools: { name: string }[] };
    return found.map(({ name }) => name).filter((name) => !name.startsWith('odd__'));
  };
  return { server, run, names, admin };
}

test('a tool that is not there without a server may be one of a server, and a failed one is named with its code', async () => {
  const folder = temporaryFolder();
  const text = `export const broken = { name: 'broken', description: 'x', input: { type: 'object' },
    run: (_, call) => call.failed('no luck', { code: 'UNLUCKY' }) };`;
  writeFileSync(join(folder, 'tools.mjs'), text);
  writeFileSync(join(folder, 'dragoman.yaml'), 'tools: [./tools.mjs]\n');
  const call = async (name: string) => {
    const surroundings = new FakeSurroundings({ folder });
    const code = await main(['tools', 'call', name], surroundings);
    return { code, out: surroundings.out, notes: surroundings.notes };
  };
  const missing = await call('word_count');
  expect(missing.notes).toContain('→ or call a tool of a server: --url http://127.0.0.1:7420\n');
  expect(await call('broken')).toEqual({ code: 1, out: '', notes: 'broken failed: no luck (UNLUCKY)\n' });
});

test('tools are listed by their tags, and deferred ones on request', async () => {
  const { server, run, names } = await started();
  await using _ = server;
  expect(await names()).toEqual(['add', 'divide']);
  expect(await names('--tag', 'math')).toEqual(['add', 'divide']);
  expect(await names('--tag', 'math', '--tag', 'quick')).toEqual(['add']);
  expect((await run('list', '--tag', 'none')).stderr).toBe('none: no tool matches\n');
  expect(await names('--deferred')).toEqual(['add', 'divide', 'rare', 'slow']);
});

test('a tool that is not there is answered with the nearest, and with how to see them all', async () => {
  const { server, run } = await started();
  await using _ = server;
  const all = 'see them all: npx dragoman tools list --deferred';
  expect(await run('call', 'zzzzzzzz')).toMatchObject({ code: 1, stderr: expect.stringContaining(all) });
  const near = await run('call', 'dvide');
  expect(near.stderr).toContain('did you mean divide?');
  expect(near.stderr).toContain(all);
});

test('a tool that is not held is answered with those that are', async () => {
  const { server, run } = await started();
  await using _ = server;
  expect((await run('accept', 'odd__ecko')).stderr).toContain('no tool has changed since it was first seen');
  await run('call', 'odd__change');
  await expect.poll(async () => (await run('accept', 'odd__ecko')).stderr).toContain('waiting for approval: odd__echo');
  expect((await run('accept', 'odd__ecko')).stderr).toContain('did you mean odd__echo?');
  expect(await run('accept', 'odd__echo')).toMatchObject({ code: 0, stdout: 'accepted odd__echo\n' });
});

test('a key that may use no tool gets an empty table and a note', async () => {
  const { server, run, admin } = await started();
  await using _ = server;
  const { api_key = '' } = await admin.agents.put({ agent_id: 'guest', permissions: { tools: [] } });
  const listed = await run('list', '--key', api_key);
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining('permissions.tools of its agent') });
  expect((await run('list', '--key', api_key, '--json')).stderr).toBe('');
  expect((await run('list', '--query', 'nothing like it')).stderr).toBe('none: no tool matches\n');
});

test('a tool that takes too long is reported with the option that raises the limit', async () => {
  const { server, run } = await started();
  await using _ = server;
  const late = await run('call', 'slow', '--timeout', '1');
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('did not finish within 1 s') });
  expect(late.stderr).toContain('set a longer --timeout SECONDS');
});

test('tools are those of the configuration in the folder unless --url or DRAGOMAN_URL names a server, as for workflows', async () => {
  const { server } = await started();
  await using _ = server;
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'own.mjs'), TOOLS.replace("name: 'add'", "name: 'own_add'"));
  writeFileSync(join(folder, 'dragoman.yaml'), 'tools: [./own.mjs]\n');
  const listed = async (environment: Record<string, string>) => {
    const surroundings = new FakeSurroundings({ folder, environment });
    const code = await main(['tools', 'list'], surroundings);
    return { code, text: surroundings.out + surroundings.notes };
  };
  const here = await listed({});
  expect(here).toMatchObject({ code: 0, text: expect.stringContaining('own_add') });
  const there = await listed({ DRAGOMAN_URL: server.url, DRAGOMAN_KEY: 'dgm_not_a_key_of_that_server' });
  expect(there).toMatchObject({ code: 1, text: expect.stringContaining(server.url) });
});
