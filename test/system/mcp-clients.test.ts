import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, describe, expect, test } from 'vitest';
import type { Config } from '../../packages/server/src/config/config-schema.ts';
import { call } from './call.ts';
import { Caller, read } from './caller.ts';
import { legacyClient } from './mcp-caller.ts';
import { agentModule, moduleAgent, System } from './system.ts';

const INFO = { name: 'test-client', version: '1.0.0' };
const config: Config = { agents: { worker: moduleAgent('worker') }, tools: [agentModule('work-tool')] };
const system = await System.start({ config });
afterAll(() => system[Symbol.asyncDispose]());
const permissions = { agents: ['*'], tools: ['*'], workflows: ['*'], operations: ['*'] };
const { api_key: key } = await system.caller('ada-agent', { permissions });
const keyFile = join(system.folder, 'ada.key');
writeFileSync(keyFile, `${key}\n`);
const configFile = join(system.folder, 'local.yaml');
writeFileSync(configFile, JSON.stringify(config));

const forward = [system.command, 'mcp', '--server', system.url, '--key-file', keyFile];
const embedded = [system.command, 'mcp', '--config', configFile];
const env = { PATH: process.env['PATH'] ?? '', HOME: system.folder };
const stdio = (args: readonly string[]) => ({
  command: process.execPath,
  args: [...args],
  env,
  stderr: 'pipe' as const,
});

type TestedClient = Pick<Client, 'listTools' | 'callTool' | 'close'>;

/** The older SDK takes a schema before the options. */
function sameCalls(client: LegacyClient): TestedClient {
  return {
    listTools: () => client.listTools() as never,
    callTool: (params, options) => client.callTool(params, undefined, options) as never,
    close: () => client.close(),
  };
}

/** Every way in, with the official client of each era. */
const CLIENTS: Readonly<Record<string, () => Promise<TestedClient>>> = {
  'SDK 2 over HTTP, 2026-07-28': async () => {
    const client = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', system.url), { requestInit }));
    return client;
  },
  'SDK 2 over HTTP, in a session': async () => {
    const client = new Client(INFO);
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', system.url), { requestInit }));
    return client;
  },
  'SDK 1 over HTTP': async () => sameCalls(await legacyClient(system.url, key)),
  ...Object.fromEntries(
    Object.entries({ 'forwarded to a server': forward, 'with a server of its own': embedded }).flatMap(
      ([how, args]) => [
        [
          `SDK 2 over stdio, ${how}, 2026-07-28`,
          async () => {
            const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
            await client.connect(new StdioClientTransport(stdio(args)));
            expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
            return client;
          },
        ],
        [
          `SDK 1 over stdio, ${how}`,
          async () => {
            const client = new LegacyClient(INFO);
            await client.connect(new LegacyStdioTransport(stdio(args)));
            return sameCalls(client);
          },
        ],
      ],
    ),
  ),
};

describe.each(Object.entries(CLIENTS))('%s', (_, open) => {
  test('lists tools, asks an agent, calls a tool, sees an error and cancels', async () => {
    const client = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['ask_worker', 'work', 'get_answer']));
    expect(await client.callTool({ name: 'ask_worker', arguments: { prompt: 'work' } })).toMatchObject({
      content: [{ type: 'text', text: 'Hello world' }],
      structuredContent: { status: 'completed' },
    });
    expect(await client.callTool({ name: 'work', arguments: { mode: 'fail' } })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'none' })).rejects.toThrow('Unknown tool');
    const abort = new AbortController();
    const held = client.callTool({ name: 'ask_worker', arguments: { prompt: 'hold' } }, { signal: abort.signal });
    const refused = expect(held).rejects.toThrow();
    abort.abort();
    await refused;
    expect(await client.callTool({ name: 'work', arguments: { mode: 'work' } })).toMatchObject({
      structuredContent: { text: 'Hello world' },
    });
    await client.close();
  });
});

/** A free port, for a server that restarts on it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The command with its lines. */
function started(args: readonly string[]) {
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => {
    log += text;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    log: () => log,
    send: (message: object | string) => {
      child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
    },
    receive: async () => JSON.parse((await lines.next()).value ?? 'null'),
    end: async () => {
      const exited = once(child, 'exit');
      child.stdin.end();
      return (await exited)[0];
    },
  };
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: INFO },
};
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('dragoman mcp', () => {
  test.each([forward, embedded])(
    'serves both eras on one process, survives bad lines and ends with its input',
    async (...args) => {
      const peer = started(args);
      peer.send({ jsonrpc: '2.0', id: 'probe', method: 'server/discover', params: { _meta } });
      expect(await peer.receive()).toMatchObject({ id: 'probe', result: { resultType: 'complete' } });
      peer.send(initialize);
      expect(await peer.receive()).toMatchObject({ id: 0, result: { protocolVersion: '2025-06-18' } });
      peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      peer.send('{');
      expect(await peer.receive()).toMatchObject({ error: { code: -32700 } });
      peer.send({ jsonrpc: '2.0', id: 5, method: 'ping' });
      expect(await peer.receive()).toEqual({ jsonrpc: '2.0', id: 5, result: {} });
      expect(await peer.end(), peer.log()).toBe(0);
    },
  );

  test('a cancelled request of 2026-07-28 ends behind the server', async () => {
    const peer = started(forward);
    const requestId = randomUUID();
    const params = {
      name: 'ask_worker',
      arguments: { prompt: 'hold' },
      _meta: { ..._meta, progressToken: 1, 'dragoman/request_id': requestId },
    };
    peer.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    expect(await peer.receive()).toMatchObject({ method: 'notifications/progress' });
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7, _meta } });
    const frames = await new Caller(system, key).resume(requestId);
    expect(read(frames.at(-1) ?? '')).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
    await peer.end();
  });

  test('a call of a session that is cancelled before it is recorded ends all the same', async () => {
    const peer = started(embedded);
    peer.send(initialize);
    await peer.receive();
    const params = {
      name: 'ask_worker',
      arguments: { prompt: 'hold' },
      _meta: { 'dragoman/request_id': 'cancelled-early' },
    };
    peer.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    const later = { name: 'get_answer', arguments: { request_id: 'cancelled-early' } };
    await expect
      .poll(async () => {
        peer.send({ jsonrpc: '2.0', id: 8, method: 'tools/call', params: later });
        return await peer.receive();
      })
      .toMatchObject({ id: 8, result: { structuredContent: { status: 'cancelled' } } });
    await peer.end();
  });

  test('after a restart of the server the session continues without the client noticing', async () => {
    await using own = await System.start({ config: { ...config, port: await freePort() } });
    const { api_key } = await own.caller('ada-agent', { permissions });
    writeFileSync(join(own.folder, 'k'), api_key);
    const peer = started([own.command, 'mcp', '--server', own.url, '--key-file', join(own.folder, 'k')]);
    peer.send(initialize);
    await peer.receive();
    await own.kill();
    peer.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(await peer.receive()).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('cannot be reached') },
    });
    await own.start();
    peer.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect(await peer.receive()).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    await peer.end();
  });
});

test('a client is notified when the tools of its key change', async () => {
  const { api_key } = await system.caller('eve-agent', { permissions: { agents: [] } });
  const received: string[] = [];
  const client = new Client(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setNotificationHandler('notifications/tools/list_changed', () => void received.push('modern'));
  const requestInit = { headers: { authorization: `Bearer ${api_key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', system.url), { requestInit }));
  const subscription = await client.listen({ toolsListChanged: true });
  const old = new Client(INFO);
  old.setNotificationHandler('notifications/tools/list_changed', () => void received.push('session'));
  await old.connect(new StreamableHTTPClientTransport(new URL('/mcp', system.url), { requestInit }));
  // The stream of the session is open when its first bytes are there.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const json = { agent_id: 'eve-agent', permissions: { agents: ['worker'] } };
  await call(system.url, { method: 'POST', path: '/admin/v1/agents', key: system.adminKey, json });
  await expect.poll(() => [...received].sort()).toEqual(['modern', 'session']);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('ask_worker');
  await subscription.close();
  await client.close();
  await old.close();
});
