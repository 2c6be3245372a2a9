import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { JsonObject } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { Ending } from '../../ending.ts';
import { ALL_PERMISSIONS } from '../../principal.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { directGate } from '../direct-gate.contract.ts';
import { ToolRegistry } from '../tool-registry.ts';
import { McpServers } from './mcp-servers.ts';

interface Exchange {
  readonly id: unknown;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Manners {
  /** What it does when a tool is called. */
  readonly onCall?: (exchange: Exchange) => void;
}

/** A server over HTTP, by hand: the SDK's would not do what it should not. */
async function open({ onCall = () => {} }: Manners) {
  const seen: { method: string | undefined; url: string | undefined; asked: unknown }[] = [];
  const peer = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = (body === '' ? {} : JSON.parse(body)) as { [_ in string]: unknown };
    seen.push({ method: request.method, url: request.url, asked: method });
    if (method === 'initialize') {
      const { protocolVersion } = params as JsonObject;
      const serverInfo = { name: 'peer', version: '1' };
      answer(response, { id, result: { protocolVersion, serverInfo, capabilities: { tools: {} } } });
    } else if (method === 'tools/list') {
      answer(response, { id, result: { tools: [{ name: 'it', inputSchema: { type: 'object' } }] } });
    } else if (method === 'tools/call') onCall({ id, request, response });
    else response.writeHead(request.method === 'POST' ? 202 : 405).end();
  });
  peer.listen(0, '127.0.0.1');
  await once(peer, 'listening');
  const clock = new TestClock();
  const log = new SilentLog();
  const servers = new McpServers({
    configs: { peer: { url: `http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp` } },
    clock,
    log,
    folder: tmpdir(),
    pins: new MemoryStore().pins,
    gate: directGate([]),
    version: '0',
  });
  const tools = new ToolRegistry({ clock });
  tools.add(servers);
  const principal = { id: 'ada', role: 'agent', permissions: ALL_PERMISSIONS } as const;
  await servers.ready;
  return {
    servers,
    seen,
    clock,
    log,
    call: async () => tools.call({ name: 'peer__it', args: {}, principal, ending: new Ending() }),
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]();
      peer.closeAllConnections();
      peer.close();
    },
  };
}

function answer(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

test.each([301, 302, 307, 308])('a redirect (%i) is not followed, not even to the same host', async (status) => {
  await using peer = await open({
    onCall: ({ id, request, response }) => {
      if (request.url === '/mcp') response.writeHead(status, { location: '/elsewhere' }).end();
      else answer(response, { id, result: { content: [] } });
    },
  });
  await expect(peer.call()).rejects.toMatchObject({
    code: 'mcp_protocol_error',
    message: expect.stringContaining('a redirect to /elsewhere, which is not followed'),
  });
  expect(peer.seen.filter(({ url }) => url !== '/mcp')).toEqual([]);
});

test.each([
  [429, 'mcp_server_unavailable'],
  [502, 'mcp_server_unavailable'],
  [503, 'mcp_server_unavailable'],
  [504, 'mcp_server_unavailable'],
  [401, 'mcp_protocol_error'],
  [500, 'mcp_protocol_error'],
])('a server that says %i is told as %s', async (status, code) => {
  await using peer = await open({ onCall: ({ response }) => response.writeHead(status).end('not now') });
  await expect(peer.call()).rejects.toMatchObject({ code, message: expect.stringContaining('not now') });
});

test('what a tool calls 503 itself is its own word', async () => {
  const error = { code: 503, message: 'closed for today' };
  await using peer = await open({ onCall: ({ id, response }) => answer(response, { id, error }) });
  await expect(peer.call()).rejects.toMatchObject({ code: 'mcp_protocol_error', detail: { mcp_code: 503 } });
});
