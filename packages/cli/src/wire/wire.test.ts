import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DragomanProcess, dragoman, dragomanFile } from '../../test-support/dragoman-process.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { howToAccept } from './how-to-accept.ts';

const TOOLS = `
  console.log('a tool file that prints');
  export const shout = {
    name: 'shout', description: 'Says it loud.', input: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
    run: ({ text }, call) => { console.log('and prints again'); call.progress(50, 'half'); return { loud: text.toUpperCase() }; },
  };
  export const later = {
    name: 'later', input: {}, run: () => new Promise((resolve) => { setTimeout(resolve, 200, 'at last').unref(); }),
  };`;

function folderWith(config: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'tools.mjs'), TOOLS);
  writeFileSync(join(folder, 'dragoman.yaml'), config);
  return folder;
}

const line = (type: string, id: string, fields: object = {}) =>
  `${JSON.stringify({ a2e: '1.0', type, id, ts: 1, ...fields })}\n`;
const HELLO = line('handshake/req', 'hello');

test('stdout carries the protocol and nothing else, and the end of stdin is the end', async () => {
  const folder = folderWith('tools: [./tools.mjs]\n');
  const call = (tool: string, args: object) => line('tool/call/req', tool, { tool_name: tool, arguments: args });
  // The last one waits for something that does not keep the process alive.
  const stdin = `${HELLO}${call('shout', { text: 'hi' })}${call('later', {})}`;
  const { code, stdout, stderr } = await dragoman(['wire'], { folder, stdin });
  const frames = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(frames.map(({ type }) => type)).toEqual(['handshake/resp', 'tool/call/resp', 'tool/call/resp']);
  expect(frames[1].data).toMatchObject({ success: true, data: { loud: 'HI' } });
  expect(frames[2].data).toMatchObject({ success: true, data: 'at last' });
  expect(frames[0].accepted_caps.map(({ capability }: { capability: string }) => capability)).toEqual([
    'tools',
    'chains',
    'mcp',
    'memory',
    'skill',
    'toolkits',
    'planning',
    'multi_agent',
    'learning',
  ]);
  expect(stderr).toContain('a tool file that prints\n');
  expect(stderr).toContain('and prints again\n');
  expect(code).toBe(0);
  expect(existsSync(join(folder, '.dragoman'))).toBe(false);
});

test('a line whose end comes later is read whole, though others were read in the meantime', async () => {
  const host = startHost([], folderWith('tools: [./tools.mjs]\n'));
  const frames = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await frames.next()).value));
  const call = (id: string, text: string) => line('tool/call/req', id, { tool_name: 'shout', arguments: { text } });
  const cut = call('cut', 'whole');
  // An answer says that everything up to it has been read, the beginning of the next line too.
  host.stdin.write(`${HELLO}${cut.slice(0, 40)}`);
  expect(await next()).toMatchObject({ type: 'handshake/resp' });
  host.stdin.write(`${cut.slice(40)}${call('after', 'x'.repeat(100_000))}${call('last', 'y').slice(0, -1)}`);
  expect(await next()).toMatchObject({ req_id: 'cut', data: { data: { loud: 'WHOLE' } } });
  expect(await next()).toMatchObject({ req_id: 'after', data: { data: { loud: 'X'.repeat(100_000) } } });
  host.stdin.end('\n');
  expect(await next()).toMatchObject({ req_id: 'last', data: { data: { loud: 'Y' } } });
  expect(await once(host, 'exit')).toEqual([0, null]);
});

test('the key of the vault is the one from the environment, as for a server', async () => {
  const folder = folderWith('tools: [./tools.mjs]\n');
  const run = (key: string) =>
    dragoman(['wire', '--data', 'data'], { folder, stdin: HELLO, environment: { DRAGOMAN_VAULT_KEY: key } });
  expect(await run('short')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('DRAGOMAN_VAULT_KEY'),
  });
  expect(await run('a passphrase that is long enough')).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, 'data', 'vault.key'))).toBe(false);
});

test('a file is read as a pipe is', async () => {
  const folder = folderWith('tools: [./tools.mjs]\n');
  const input = join(folder, 'input.ndjson');
  writeFileSync(input, `${HELLO}${line('ping', 'there')}`);
  const host = startHost([], folder, openSync(input, 'r'));
  let stdout = '';
  host.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  await once(host, 'close');
  expect(
    stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text).type),
  ).toEqual(['handshake/resp', 'pong']);
});

test('with --data it remembers, and leaves a line for each request', async () => {
  const folder = folderWith('{}\n');
  const entries = [{ key: { k: 1 }, content: 'kept', tier: 'episodic' }];
  const first = await dragoman(['wire', '--data', 'data'], {
    folder,
    stdin: `${HELLO}${line('memory/init/req', 'i')}`,
  });
  const { memory_id } = JSON.parse(first.stdout.trim().split('\n')[1] ?? '{}');
  const stdin = `${HELLO}${line('memory/store/req', 's', { memory_id, entries })}`;
  await dragoman(['wire', '--data', 'data'], { folder, stdin });
  const { stdout } = await dragoman(['wire', '--data', 'data'], {
    folder,
    stdin: `${HELLO}${line('memory/retrieve/req', 'r', { memory_id })}`,
  });
  expect(JSON.parse(stdout.trim().split('\n')[1] ?? '{}')).toMatchObject({ total: 1, entries: [{ content: 'kept' }] });
  const audit = readFileSync(join(folder, 'data', 'audit', 'wire.ndjson'), 'utf8')
    .trim()
    .split('\n');
  expect(audit.map((text) => JSON.parse(text).type)).toEqual([
    'memory/init/req',
    'memory/store/req',
    'memory/retrieve/req',
  ]);
});

test('a tool file that cannot be loaded is reported in words', async () => {
  const folder = folderWith('tools: [./tools.mjs, { name: x }]\n');
  const { code, stdout, stderr } = await dragoman(['wire'], { folder });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('tool x: it needs one of http, agent, workflow; got none');
});

test('tools are listed and called, from a configuration and on a server', async () => {
  const folder = folderWith('port: 0\nstore: memory\nwire: { port: 0 }\ntools: [./tools.mjs]\n');
  const local = await dragoman(
    ['tools', 'call', 'shout', '--args', '{"text":"hi"}', '--config', 'dragoman.yaml', '--json'],
    { folder },
  );
  expect(local.code).toBe(0);
  expect(JSON.parse(local.stdout.split('\n').findLast((text) => text !== '') ?? '')).toMatchObject({
    success: true,
    data: { loud: 'HI' },
  });

  const environment = { DRAGOMAN_ADMIN_KEY: 'dgm_brought_along_by_the_operator' };
  await using server = new DragomanProcess(['serve', '--json'], { folder, environment });
  await server.until(/"event":"listening".*\n/);
  const { url, wire } = JSON.parse(server.stdout.split('\n').find((text) => text.includes('listening')) ?? '{}');
  expect(wire).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
  const made = await fetch(`${url}/admin/v1/agents`, {
    method: 'POST',
    headers: { authorization: 'Bearer dgm_brought_along_by_the_operator', 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: 'desk', permissions: { tools: ['shout'] } }),
  });
  const { api_key } = (await made.json()) as { api_key: string };
  const options = { folder, environment: { DRAGOMAN_KEY: api_key } };
  const list = await dragoman(['tools', 'list', '--url', url], options);
  expect(list.stdout).toBe('TOOL   ARGUMENTS  DESCRIPTION\nshout  text       Says it loud.\n');
  const call = await dragoman(['tools', 'call', 'shout', '--args', '{"text":"hi"}', '--url', url], options);
  expect(call).toMatchObject({
    code: 0,
    stdout: '{\n  "loud": "HI"\n}\n',
    stderr: expect.stringContaining('50 % half\n'),
  });
  const bad = await dragoman(['tools', 'call', 'shout', '--args', '{"text":1}', '--url', url], options);
  expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining('text must be a string; got 1') });
  const usage = await dragoman(['tools', 'call', 'shout', '--args', 'nonsense', '--url', url], options);
  expect(usage.code).toBe(2);
  const held = await dragoman(['tools', 'accept', 'files__read', '--url', url], { folder, environment });
  expect(held).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no changed tool named files__read waits for approval'),
  });
});

test('a cut result is printed with a note', async () => {
  const folder = folderWith('tools: [./tools.mjs]\n');
  const call = ['tools', 'call', 'shout', '--args', '-', '--config', 'dragoman.yaml'];
  const stdin = JSON.stringify({ text: 'x'.repeat(1_100_000) });
  const { code, stdout, stderr } = await dragoman(call, { folder, stdin });
  expect(code).toBe(0);
  // The output of the tool is not part of its result.
  expect(stdout).toBe(`{"loud":"${'X'.repeat(1_048_576 - '{"loud":"'.length)}\n`);
  expect(stderr).toContain('the result is longer than this, and was cut\n');
});

// In parallel: these tests mostly wait for a server that does not stop on request.
test.concurrent.for([
  ['on the same data', ['wire', '--data', 'data'], ['wire', '--data', 'data']],
  ['that keeps nothing either', ['wire'], ['wire']],
  ['of a command that uses its tools', ['wire'], ['tools', 'list', '--config', 'dragoman.yaml']],
] as const)(
  'a host that is killed takes its MCP servers with it, or the next one %s does',
  { timeout: 120_000 },
  async ([, args, next], { onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-cli-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'data'));
    const server = fileURLToPath(new URL('../../test-support/stubborn-mcp-server.mjs', import.meta.url));
    const note = join(folder, 'pid');
    writeFileSync(
      join(folder, 'dragoman.yaml'),
      JSON.stringify({ mcp_servers: { stubborn: { command: process.execPath, args: [server, note] } } }),
    );
    const host = startHost(args.slice(1), folder);
    const lines = createInterface({ input: host.stdout });
    host.stdin.write(`${HELLO}${line('tool/list/req', 'list')}`);
    for await (const text of lines) if (text.includes('stubborn__noop')) break;
    const pid = Number(readFileSync(note, 'utf8'));
    host.kill('SIGKILL');
    await once(host, 'exit');
    expect(isAlive(pid)).toBe(true);
    // The stubborn one is ended by the next host, which starts its own and ends that too.
    const { stdout } = await dragoman(next, {
      folder,
      environment: { XDG_RUNTIME_DIR: folder },
      stdin: `${HELLO}${line('tool/list/req', 'list')}`,
    });
    expect(stdout).toContain('stubborn__noop');
    expect(isAlive(pid)).toBe(false);
    expect(isAlive(Number(readFileSync(note, 'utf8')))).toBe(false);
    const kept = join(folder, 'dragoman');
    expect(existsSync(kept) ? readdirSync(kept) : []).toEqual([]);
  },
);

test('a host whose peer leaves while it is being answered ends in order, and what it started with it', async () => {
  const folder = folderWith('tools: [./tools.mjs]\n');
  const host = startHost([], folder);
  host.stdin.write(HELLO);
  await once(host.stdout, 'data');
  expect(readdirSync(join(folder, 'dragoman'))).toHaveLength(1);
  host.stdout.destroy();
  host.stdin.write(line('tool/list/req', 'list').repeat(100));
  expect(await once(host, 'exit')).toEqual([0, null]);
  expect(readdirSync(join(folder, 'dragoman'))).toEqual([]);
});

test('a host whose stderr is closed continues', async () => {
  const folder = folderWith('tools: [./tools.mjs]\n');
  const host = spawn(process.execPath, [dragomanFile(), 'wire'], {
    cwd: folder,
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  host.stderr.destroy();
  const lines = createInterface({ input: host.stdout });
  // What the tool prints is noted.
  const call = line('tool/call/req', 'call', { tool_name: 'shout', arguments: { text: 'hi' } });
  host.stdin.write(`${HELLO}${call}`);
  for await (const text of lines) if (text.includes('"loud":"HI"')) break;
  host.stdin.end();
  expect(await once(host, 'exit')).toEqual([0, null]);
});

/** An MCP server with one tool, whose description is in a file. */
const DESCRIBED = `
  import { readFileSync } from 'node:fs';
  import { createInterface } from 'node:readline';
  const serverInfo = { name: 'described', version: '1' };
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
    'tools/list': () => ({
      tools: [{ name: 'say', description: readFileSync(process.argv[2], 'utf8'), inputSchema: { type: 'object' } }],
    }),
    'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = answers[method]?.(params);
    if (result !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });`;

test('a tool that a host withholds is accepted with the command of the host', async () => {
  const folder = temporaryFolder();
  const [server, description] = [join(folder, 'described.mjs'), join(folder, 'description')];
  writeFileSync(server, DESCRIBED);
  const mcp_servers = { odd: { command: process.execPath, args: [server, description] } };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ mcp_servers }));
  const stdin = `${HELLO}${line('tool/call/req', 'call', { tool_name: 'odd__say', arguments: {} })}`;
  const called = async (...args: string[]) => {
    const { stdout } = await dragoman(['wire', ...args], { folder, stdin });
    return JSON.parse(stdout.trim().split('\n')[1] ?? '{}');
  };
  writeFileSync(description, 'Says it.');
  expect(await called('--data', 'data')).toMatchObject({ data: { data: 'done' } });
  writeFileSync(description, 'Says it to somebody else.');
  const { detail } = await called('--data', 'data');
  const [suggestion = ''] = detail.suggestions;
  const command =
    /^review the new definition, then accept it: stop this host, then run: npx dragoman (tools accept odd__say .*)$/;
  const [, accept = ''] = command.exec(suggestion) ?? [];
  const typo = await dragoman(accept.replace('odd__say', 'odd__sa').split(' '), { folder });
  expect(typo).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean odd__say?') });
  // From wherever that is read.
  const accepted = await dragoman(accept.split(' '), { folder: temporaryFolder() });
  expect(accepted).toMatchObject({ code: 0, stdout: 'accepted odd__say\n' });
  expect(await called('--data', 'data')).toMatchObject({ data: { data: 'done' } });
  expect(await dragoman(accept.split(' '), { folder })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no tool has changed since it was first seen'),
  });
  expect(await dragoman(['tools', 'accept', 'odd__say', '--config', 'dragoman.yaml'], { folder })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--config requires --data, the data folder of the host'),
  });
  writeFileSync(server, 'process.exit(1)');
  expect(await dragoman(accept.split(' '), { folder })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the MCP server odd cannot be reached'),
  });
}, 120_000);

test('the command that accepts a tool can be pasted into a shell, and exists only where tools are remembered', () => {
  const config = '/some where/dragoman.yaml';
  expect(howToAccept({ config, data: "/it's" })('odd__say')).toBe(
    `stop this host, then run: npx dragoman tools accept odd__say --config '/some where/dragoman.yaml' --data '/it'\\''s'`,
  );
  expect(howToAccept({ config, data: undefined })('odd__say')).toContain('restart this host');
});

/** A host that is talked to while it runs. */
function startHost(args: readonly string[], folder: string, stdin: 'pipe' | number = 'pipe') {
  const host = spawn(process.execPath, [dragomanFile(), 'wire', ...args], {
    cwd: folder,
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
    stdio: [stdin, 'pipe', 'ignore'],
  });
  return host as ChildProcessByStdio<Writable, Readable, null>;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that has ended and was not waited for is a name in a list.
    return !/^\S+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
