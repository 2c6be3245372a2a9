import { getEventListeners } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@dragoman/protocols';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type GivenMcpServer, mcpServer } from '../../../test-support/configured.ts';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { eventually } from '../../agents/call.contract.ts';
import { ALL_PERMISSIONS, type Principal } from '../../call/principal.ts';
import { Ending } from '../../ending/ending.ts';
import type { Clock } from '../../ports/ports.ts';
import { ToolRegistry } from '../tool-registry.ts';
import { McpServers } from './mcp-servers.ts';

const ADA: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };
const clock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

let folder = '';
let store = memoryStore();
let log = new SilentLog();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-mcp-'));
  store = memoryStore();
  log = new SilentLog();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(configs: Record<string, GivenMcpServer>, time: Clock = clock) {
  const children = join(folder, 'children');
  const servers = new McpServers({
    configs: filled(configs),
    clock: time,
    log,
    folder: children,
    pins: store.pins,
    gate: undefined,
    version: '0',
  });
  const tools = new ToolRegistry({ clock: time });
  tools.add(servers);
  const call = async (name: string, args: JsonObject = {}, more: object = {}) =>
    tools.call({ name, args, principal: ADA, ending: new Ending(), ...more });
  return { servers, tools, call, children };
}

function filled(configs: Record<string, GivenMcpServer>) {
  return Object.fromEntries(Object.entries(configs).map(([name, config]) => [name, mcpServer(config)]));
}

function moduleAt(name: string): string {
  return fileURLToPath(
    new URL(`../../../../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url),
  );
}

const everything = (): GivenMcpServer => ({
  command: process.execPath,
  args: [moduleAt('server-everything'), 'stdio'],
});
const hostile = (lists = 'nonsense'): GivenMcpServer => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('../fixtures/hostile-mcp-server.mjs', import.meta.url)), join(folder, 'notes'), lists],
  timeout_ms: 50_000,
});

describe('the reference servers', () => {
  test('everything: tools, progress, structured content, and an environment of PATH and HOME alone', async () => {
    const { servers, tools, call, children } = open({ every: { ...everything(), env: { CITY: 'Bern' } } });
    await using _ = servers;
    const names = (await tools.list(ADA)).map(({ name }) => name);
    expect(names).toContain('every__echo');
    expect(names.every((name) => name.startsWith('every__'))).toBe(true);
    expect(await call('every__echo', { message: 'hi' })).toMatchObject({ success: true, data: 'Echo: hi' });
    await expect(call('every__get-sum', { a: 1, b: 'two' })).rejects.toMatchObject({
      failure: { code: 'invalid_message', details: { issues: [{ pointer: '/arguments/b' }] } },
    });
    const env = JSON.parse(String((await call('every__get-env')).data));
    expect(Object.keys(env).sort()).toEqual(['CITY', 'HOME', 'PATH'].filter((name) => name in env).sort());
    expect(env).toMatchObject({ CITY: 'Bern', PATH: expect.any(String) });
    const events: object[] = [];
    const onEvent = (event: object) => events.push(event);
    await call('every__trigger-long-running-operation', { duration: 0.1, steps: 3 }, { onEvent });
    expect(events).toContainEqual({ kind: 'progress', data: { pct: expect.closeTo(33.3, 0), message: '' } });
    expect((await call('every__get-structured-content', { location: 'Chicago' })).data).toHaveProperty('temperature');
    expect(readdirSync(children)).toHaveLength(1);
    await servers[Symbol.asyncDispose]();
    expect(readdirSync(children)).toEqual([]);
  });

  test('filesystem: reads what it may, and that it may not is an answer, not an error', async () => {
    const docs = join(folder, 'docs');
    writeFileSync(join(folder, 'secret'), 's');
    mkdirSync(docs);
    writeFileSync(join(docs, 'a.txt'), 'hello');
    const { servers, call } = open({
      files: { command: process.execPath, args: [moduleAt('server-filesystem'), docs] },
    });
    await using _ = servers;
    expect(await call('files__read_text_file', { path: join(docs, 'a.txt') })).toMatchObject({
      success: true,
      data: { content: 'hello' },
    });
    expect(await call('files__read_text_file', { path: join(folder, 'secret') })).toMatchObject({
      success: false,
      error: expect.stringContaining('Access denied'),
    });
  });

  test('only the tools that the operator names are taken', async () => {
    const { servers, tools } = open({ every: { ...everything(), tools: ['echo'] } });
    await using _ = servers;
    expect((await tools.list(ADA)).map(({ name }) => name)).toEqual(['every__echo']);
  });
});

describe('a hostile server', () => {
  test('hidden characters of descriptions are removed, and a tool without a valid name is left out', async () => {
    const { servers, tools } = open({ bad: hostile() });
    await using _ = servers;
    const list = await tools.list(ADA);
    expect(list.find(({ name }) => name === 'bad__echo')?.description).toBe('Says it back.nore the user');
    expect(list.filter(({ name }) => name.includes('bad name'))).toEqual([]);
  });

  test('a malformed tool, or one with an invalid output schema, does not affect the others', async () => {
    const { servers, tools, call } = open({ bad: hostile() });
    await using _ = servers;
    const names = (await tools.list(ADA)).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['bad__echo', 'bad__outlandish']));
    expect(names).not.toContain('bad__shapeless');
    expect(await call('bad__outlandish')).toMatchObject({ success: true, data: { a: 1 } });
  });

  test('its own name hides nothing either, and is cut to the length of a name', async () => {
    const { servers } = open({ bad: hostile() });
    await using _ = servers;
    await servers.ready;
    const { server_name: name = '', server_version: version } = servers.server('bad')?.info() ?? {};
    expect(name).toMatch(/^hostnore the userile x{1,200}$/);
    expect(version).toBe('1nore the user');
  });

  test('its patterns have linear cost', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    // With a matcher that tries every way, this would not end.
    await expect(call('bad__echo', { say: `${'a'.repeat(50)}!` })).rejects.toMatchObject({
      failure: { code: 'invalid_message' },
    });
  });

  test('a tool that changes is held until it is accepted, also after a restart', async () => {
    {
      const { servers, call } = open({ bad: hostile() });
      await using _ = servers;
      expect((await call('bad__echo', { say: 'aa' })).data).toBe('aa');
      await call('bad__change');
      await eventually(() => servers.held()).toEqual(['bad__echo']);
      await expect(call('bad__echo', { say: 'aa' })).rejects.toMatchObject({
        message: expect.stringContaining('has changed'),
        failure: { code: 'not_found', details: { suggestions: [expect.stringContaining('tools accept bad__echo')] } },
      });
      expect([...servers.servers()][0]?.info().error).toContain('bad__echo');
      // However often it is looked at.
      for (let times = 0; times < 3; times++) await servers.server('bad')?.refresh();
      expect(log.lines.filter(({ message }) => message.includes('is blocked until'))).toHaveLength(1);
      expect(await servers.accept('bad__nothing')).toBe(false);
      expect(await servers.accept('bad__echo')).toBe(true);
      expect((await call('bad__echo', { say: 'aa' })).data).toBe('aa');
    }
    // It starts as it was before: not what was accepted last.
    const { servers } = open({ bad: hostile() });
    await using _ = servers;
    await servers.ready;
    expect(servers.held()).toEqual(['bad__echo']);
  });

  test('one that never answers is given up in time, and receives the cancellation', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    await expect(call('bad__never', {}, { timeoutMs: 200 })).rejects.toMatchObject({ failure: { code: 'timeout' } });
    await eventually(() => existsSync(join(folder, 'notes')) && readFileSync(join(folder, 'notes'), 'utf8')).toMatch(
      /^cancelled /m,
    );
    const ending = new Ending();
    const cancelled = call('bad__never', {}, { ending });
    setTimeout(() => ending.end(new Error('enough')), 50);
    await expect(cancelled).rejects.toThrow('enough');
    expect((await call('bad__echo', { say: 'a' })).data).toBe('a');
  });

  test('a tool that changes while an earlier list is being looked at is held all the same', async () => {
    let letGo = () => {};
    let isLookedAt = false;
    const { pins } = store;
    const add = pins.add.bind(pins);
    // The pin of the new tool takes its time, once.
    pins.add = async (row) => {
      if (row.name === 'bad__grown' && !isLookedAt) {
        isLookedAt = true;
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
      }
      return add(row);
    };
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    await call('bad__grow');
    await eventually(() => isLookedAt).toBe(true);
    await call('bad__change');
    await eventually(() => servers.find('bad__grown') !== undefined).toBe(true);
    letGo();
    await new Promise((resolve) => setImmediate(resolve));
    expect(servers.held()).toEqual(['bad__echo']);
    expect(servers.find('bad__echo')).toBeUndefined();
  });

  test('one that reports without end that its tools have changed is listed once a second', async () => {
    const time = new TestClock();
    const { servers, call } = open({ bad: hostile('restless') }, time);
    await using _ = servers;
    const listed = () => readFileSync(join(folder, 'notes'), 'utf8').split('\n').length - 1;
    expect((await call('bad__echo', { say: 'a' })).data).toBe('a');
    await eventually(listed).toBe(3);
    for (const seconds of [1, 2]) {
      // Its notification arrives before its next answer.
      for (let attempt = 0; attempt < 20; attempt++) await call('bad__echo', { say: 'a' });
      expect(listed()).toBe(2 + seconds);
      await time.advance(1_000);
      await eventually(listed).toBe(3 + seconds);
    }
  });

  test('one that dies while it is greeted is started again', async () => {
    const module = fileURLToPath(new URL('../fixtures/short-lived-mcp-server.mjs', import.meta.url));
    const { servers, call } = open({ bad: { command: process.execPath, args: [module, join(folder, 'mark')] } });
    await using _ = servers;
    await servers.ready;
    await eventually(() =>
      call('bad__echo').then(
        ({ data }) => data,
        () => undefined,
      ),
    ).toBe('here');
  });

  test.each([
    ['output', 1],
    ['input', 0],
  ])('one that closes its %s and runs on is ended, and started again', async (_name, what) => {
    const time = new TestClock();
    const { servers, call } = open({ bad: hostile() }, time);
    await using _ = servers;
    await servers.ready;
    let thrown: unknown;
    const attempt = what === 0 ? call('bad__hang-up', { what }).then(() => call('bad__echo')) : call('bad__hang-up');
    attempt.catch((error: unknown) => {
      thrown = error;
    });
    await eventually(() => {
      time.pass(100);
      return thrown;
    }).toMatchObject({ code: 'mcp_transport_error' });
    expect(log.lines).toContainEqual(
      expect.objectContaining({ fields: { mcp_server: 'bad', error: 'it closed its output but did not exit' } }),
    );
    await eventually(() => {
      time.pass(100);
      return servers.server('bad')?.info().status;
    }).toBe('ready');
    expect((await call('bad__echo', { say: 'a' })).data).toBe('a');
  });

  test('one that dies ends its call, and is started again', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    await servers.ready;
    await expect(call('bad__die')).rejects.toMatchObject({
      code: 'mcp_transport_error',
      message: 'The MCP server bad ended before it answered.',
    });
    await eventually(() =>
      call('bad__echo', { say: 'a' }).then(
        ({ data }) => data,
        () => undefined,
      ),
    ).toBe('a');
  });

  test.each(['notifications', 'answers', 'refusals', 'nonsense', 'blanks', 'bytes'])(
    'a flood of %s ends it, and it alone',
    async (of) => {
      // A flood is so much within a second, which does not pass here.
      const { servers, call } = open({ bad: hostile(), every: everything() }, new TestClock());
      await using _ = servers;
      await servers.ready;
      await expect(call('bad__flood', { of })).rejects.toMatchObject({ code: 'mcp_transport_error' });
      expect((await call('every__echo', { message: 'still here' })).data).toBe('Echo: still here');
      const why = { mcp_server: 'bad', error: 'it sent too many messages' };
      expect(log.lines).toContainEqual({ level: 'warn', fields: why, message: 'an MCP server is ended' });
    },
  );

  test('its stderr is read at a limited rate, with backpressure', async () => {
    const time = new TestClock();
    const { servers, call } = open({ bad: hostile() }, time);
    await using _ = servers;
    const written = async () => Number((await call('bad__complain')).data) / (1024 * 1024);
    await eventually(written).toBeGreaterThan(1);
    for (let attempt = 0; attempt < 50; attempt++) expect(await written()).toBeLessThan(2);
    time.pass(1_000);
    await eventually(written).toBeGreaterThan(2);
    await expect(call('bad__die')).rejects.toMatchObject({ code: 'mcp_transport_error' });
  });

  test('an invalid message is skipped; an endless line ends it', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    expect((await call('bad__garbage')).data).toBe('after garbage');
    await expect(call('bad__die')).rejects.toMatchObject({
      code: 'mcp_transport_error',
      message: 'The MCP server bad ended before it answered.',
    });
    await eventually(() =>
      call('bad__echo', { say: 'a' }).then(
        ({ data }) => data,
        () => undefined,
      ),
    ).toBe('a');
    await expect(call('bad__line')).rejects.toMatchObject({ code: 'mcp_transport_error' });
  });

  test('an answer that cannot be read ends its call with the reason and no other; one with a rounded number is read', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    expect((await call('bad__rounded')).data).toEqual({ id: 12_345_678_901_234_567_000 });
    const ending = new Ending();
    const other = call('bad__never', {}, { ending }).catch((error: unknown) => error);
    const how = (way: string) => call('bad__unreadable', { how: way });
    for (const [way, why] of [
      ['deep', 'expected at most 64 levels of nesting'],
      ['twice', 'content'],
      ['nan', 'NaN'],
      ['long', 'expected at most 8388608 bytes in a line'],
    ] as const) {
      const message = expect.stringMatching(new RegExp(`^The MCP server bad .*cannot be read: .*${why}`));
      await expect(how(way)).rejects.toMatchObject({ code: 'mcp_protocol_error', message });
    }
    expect((await how('lost')).data).toBe('after the lost one');
    ending.end(new Error('enough'));
    expect(await other).toMatchObject({ message: 'enough' });
  });

  test('a huge result is cut, and nonsense is not a result', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    const huge = await call('bad__huge');
    expect(huge.truncated).toBe(true);
    expect(String(huge.data)).toHaveLength(1024 * 1024);
    await expect(call('bad__wrong')).rejects.toMatchObject({ code: 'mcp_protocol_error' });
  });

  test('progress that is not a number, and an error that is not text, do no harm', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    const events: object[] = [];
    const odd = call('bad__odd', {}, { onEvent: (event: object) => events.push(event) });
    await expect(odd).rejects.toMatchObject({ code: 'mcp_protocol_error' });
    expect(events).toEqual([{ kind: 'progress', data: { pct: 0, message: '' } }]);
  });

  test('its log messages during a call are events of the call', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    const events: object[] = [];
    await call('bad__log', {}, { onEvent: (event: object) => events.push(event) });
    const lines: [string, string][] = [
      ['debug', 'a debug'],
      ['info', 'a info'],
      ['info', 'a notice'],
      ['warn', 'a warning'],
      ...['error', 'critical', 'alert', 'emergency'].map((level): [string, string] => ['error', `a ${level}`]),
      ['info', '{"rows":3}'],
    ];
    const expected = lines.map(([level, message]) => ({ kind: 'log', data: { level, message } }));
    expect(events).toEqual(expected);
    expect((await call('bad__log')).events).toEqual(expected);
  });

  test('its log messages while two calls run are sent to neither, because they name no call', async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    const [events, ending] = [[] as object[], new Ending()];
    const onEvent = (event: object) => events.push(event);
    const other = call('bad__never', {}, { ending, onEvent });
    await eventually(() => existsSync(join(folder, 'notes'))).toBe(true);
    await call('bad__log', {}, { onEvent });
    expect(events).toEqual([]);
    ending.end(new Error('enough'));
    await expect(other).rejects.toThrow('enough');
  });

  test("it may not ask for its caller's model or folders, nor a person where nobody can be asked", async () => {
    const { servers, call } = open({ bad: hostile() });
    await using _ = servers;
    expect((await call('bad__ask')).data).toBe('asked, offered [elicitation]');
    await eventually(() => existsSync(join(folder, 'notes')) && readFileSync(join(folder, 'notes'), 'utf8')).toBe(
      'server-1 -32601\nserver-2 -32600\nserver-3 -32601\n',
    );
  });
});

// Shorter than a greeting may take.
describe('stopping', () => {
  test.each([
    ['one that never greets us is ended without waiting for it', '', 'SIGTERM'],
    ['one that ignores SIGTERM is killed after five seconds', 'process.on("SIGTERM", () => {});', 'SIGKILL'],
  ])(
    '%s',
    async (_, deaf, signal) => {
      const time = new TestClock();
      const mark = join(folder, 'mark');
      const hang = `${deaf}require('node:fs').writeFileSync(${JSON.stringify(mark)}, ''); setInterval(() => {}, 1000)`;
      const { servers, children } = open({ hang: { command: process.execPath, args: ['-e', hang] } }, time);
      await eventually(() => existsSync(mark)).toBe(true);
      const stopped = servers[Symbol.asyncDispose]();
      if (signal === 'SIGKILL') {
        // Beside its patience with those that have not been tried yet.
        await eventually(() => time.waiting).toBe(2);
        time.pass(5_000);
      }
      await stopped;
      expect(readdirSync(children)).toEqual([]);
    },
    20_000,
  );

  test('one that does not list its tools is not waited for', async () => {
    const { servers, children } = open({ mute: hostile('mute') }, new TestClock());
    await eventually(() => existsSync(join(folder, 'notes'))).toBe(true);
    await servers[Symbol.asyncDispose]();
    expect(readdirSync(children)).toEqual([]);
  }, 20_000);

  test('nothing is started when the end comes first', async () => {
    const { servers, children } = open({ every: everything() }, new TestClock());
    await servers[Symbol.asyncDispose]();
    expect(existsSync(children)).toBe(false);
  });
});

test('a refused subscription leaves nothing at its connection', async () => {
  const { servers } = open({ files: { command: process.execPath, args: [moduleAt('server-filesystem'), folder] } });
  await using _ = servers;
  await servers.ready;
  const closed = new AbortController();
  const { signal } = new AbortController();
  for (const uri of ['x:1', 'x:2']) {
    const attempt = servers.server('files')?.subscribe(uri, closed, () => {}, { signal, closed: closed.signal });
    await expect(attempt).rejects.toThrow();
  }
  expect(getEventListeners(closed.signal, 'abort')).toEqual([]);
});

test('two concurrent requests for a refused subscription are both refused', async () => {
  const { servers } = open({ files: { command: process.execPath, args: [moduleAt('server-filesystem'), folder] } });
  await using _ = servers;
  await servers.ready;
  const { signal } = new AbortController();
  const ask = () => servers.server('files')?.subscribe('x:1', signal, () => {}, { signal, closed: signal });
  const attempt = await Promise.allSettled([ask(), ask(), ask()]);
  expect(attempt.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});

test('one that leaves the list may finish its calls, and one that stays is not touched', async () => {
  const [stays, leaves, comes] = [everything(), hostile(), everything()];
  const { servers, tools, call, children } = open({ stays, leaves });
  await using _ = servers;
  await tools.list(ADA);
  const before = servers.server('stays');
  const ending = new Ending();
  let end: unknown;
  const running = call('leaves__never', {}, { ending }).catch((error: unknown) => {
    end = error;
  });
  await eventually(() => existsSync(join(folder, 'notes'))).toBe(true);
  servers.change(filled({ stays, comes }));
  const names = (await tools.list(ADA)).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['stays__echo', 'comes__echo']));
  expect(names).not.toContain('leaves__echo');
  await expect(call('leaves__echo', { say: 'a' })).rejects.toMatchObject({ failure: { code: 'not_found' } });
  expect(servers.server('stays')).toBe(before);
  expect(end).toBeUndefined();
  const enough = new Error('enough');
  ending.end(enough);
  await running;
  expect(end).toBe(enough);
  await expect.poll(() => readdirSync(children)).toHaveLength(2);
});

test('a tool of a server that is not there is mcp_server_unavailable, and the server does not affect the others', async () => {
  const { servers, tools, call } = open({
    gone: { command: '/no/such/program' },
    every: { ...everything(), tools: ['echo'] },
  });
  await using _ = servers;
  expect((await tools.list(ADA)).map(({ name }) => name)).toEqual(['every__echo']);
  expect(servers.server('gone')?.info()).toMatchObject({ status: 'error', error: 'cannot be reached' });
  await expect(call('gone__anything')).rejects.toMatchObject({
    message: 'There is no tool "gone__anything" now: the MCP server gone cannot be reached.',
    code: 'mcp_server_unavailable',
    detail: { retry_after: expect.any(Number) },
    failure: { retryable: true },
  });
});

test.each([
  ['before it is greeted', "throw new Error('no such folder')"],
  ['while it is greeted', "process.stdin.once('data', () => { throw new Error('no such folder') })"],
])('the last output of a program that ends %s is shown to the operator only', async (_, script) => {
  const { servers } = open({ ends: { command: process.execPath, args: ['-e', script] } });
  await using _servers = servers;
  await servers.ready;
  const error = 'it ended before it had listed its tools; it wrote: Error: no such folder';
  const warned = { level: 'warn', fields: { mcp_server: 'ends', error }, message: 'an MCP server cannot be reached' };
  expect(log.lines).toContainEqual(warned);
  expect(servers.server('ends')?.info()).toMatchObject({ error: 'cannot be reached' });
});

test('a name that could be taken for the beginning of another is refused', () => {
  expect(() => open({ a__b: everything() })).toThrow('mcp_servers: "a__b" must be');
});

test('a server that is nowhere, in two places or at no address is refused', () => {
  expect(() => open({ files: {} })).toThrow(
    'mcp_servers.files: it needs a command to run or the url of a server; got neither',
  );
  expect(() => open({ files: { ...everything(), url: 'https://mcp.example.com' } })).toThrow('got both');
  expect(() => open({ files: { url: 'mcp.example.com' } })).toThrow(
    'mcp_servers.files.url must be an http or https URL; got "mcp.example.com"',
  );
});

describe('revisions of the protocol', () => {
  const dated = (revision: string): GivenMcpServer => ({
    command: process.execPath,
    args: [fileURLToPath(new URL('../fixtures/dated-mcp-server.mjs', import.meta.url)), revision],
  });

  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('a server of %s is used', async (revision) => {
    const { servers, call } = open({ dated: dated(revision) });
    await using _ = servers;
    expect((await call('dated__echo')).data).toBe(revision);
    expect(servers.server('dated')?.info()).toMatchObject({ status: 'ready', mcp_version: revision });
  });

  test('a server of an unknown revision is not, and callers learn which revisions it has and which we have', async () => {
    const { servers, call } = open({ dated: dated('1999-01-01') });
    await using _ = servers;
    const error = /^speaks MCP "1999-01-01" only; supported here: 2025-11-25, .*2024-11-05/;
    await expect(call('dated__echo')).rejects.toMatchObject({
      failure: {
        code: 'tool_failed',
        message: expect.stringContaining('the MCP server dated speaks MCP "1999-01-01"'),
      },
    });
    expect(servers.server('dated')?.info()).toMatchObject({ status: 'error', error: expect.stringMatching(error) });
    expect(JSON.stringify(log.lines)).toContain('protocol version is not supported: 1999-01-01');
  });
});
