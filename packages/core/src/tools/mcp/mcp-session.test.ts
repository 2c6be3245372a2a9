import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mcpServer } from '../../../test-support/configured.ts';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { eventually } from '../../agents/call.contract.ts';
import type { ToolEvent } from '../../call/caller-tools.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import { Ending } from '../../ending/ending.ts';
import { directGate } from '../direct-gate.contract.ts';
import { ToolRegistry } from '../tool-registry.ts';
import { McpServers } from './mcp-servers.ts';

const sessions = new Map<string, StreamableHTTPServerTransport>();
/** The answer of a server to an unknown session: 404 by the spec, and 400 in many servers. */
let unknownSession = 404;
let isCalled = () => {};
/** Where the pending request is answered. */
const answering = new AsyncLocalStorage<ServerResponse>();
/** Events that no SDK would send. */
const STRAYS: Readonly<Record<string, string>> = {
  answers: 'event: message\ndata: {"jsonrpc":"2.0","id":"zzz","result":{}}\n\n',
  nonsense: 'event: message\ndata: no JSON\n\n',
};

async function newSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ['echo', 'stuck', 'notifications', ...Object.keys(STRAYS)].map((name) => ({
      name,
      inputSchema: { type: 'object' as const },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    const stray = STRAYS[params.name];
    if (stray !== undefined) {
      const response = answering.getStore();
      await eventually(() => response?.headersSent).toBe(true);
      response?.write(stray.repeat(12_000));
    }
    if (params.name === 'notifications') {
      const notice = { method: 'notifications/message', params: { level: 'info', data: 'x' } } as const;
      for (let count = 0; count < 12_000; count++) await sendNotification(notice);
    }
    if (params.name === 'stuck') await new Promise<void>(() => isCalled());
    return { content: [{ type: 'text', text: 'here' }] };
  });
  await server.connect(transport as Transport);
  return transport;
}

const peer = createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = typeof id === 'string' ? sessions.get(id) : await newSession();
  if (transport !== undefined) return answering.run(response, () => transport.handleRequest(request, response));
  const error = { code: -32000, message: 'No valid session ID provided' };
  response.writeHead(unknownSession, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
});
beforeAll(async () => {
  peer.listen(0, '127.0.0.1');
  await once(peer, 'listening');
});
afterAll(() => {
  peer.closeAllConnections();
  peer.close();
});

function open() {
  const clock = new TestClock();
  const log = new SilentLog();
  const servers = new McpServers({
    configs: { peer: mcpServer({ url: `http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp` }) },
    clock,
    log,
    folder: tmpdir(),
    pins: memoryStore().pins,
    gate: directGate([]),
    version: '0',
  });
  const tools = new ToolRegistry({ clock });
  tools.add(servers);
  const principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  const call = async (tool: string, onEvent?: (event: ToolEvent) => void) =>
    tools.call({ name: `peer__${tool}`, args: {}, principal, ending: new Ending(), onEvent });
  return { servers, call, clock, log };
}

test.each([404, 400])(
  'a server that has forgotten the session (%i) is greeted again, and the call is made',
  async (status) => {
    unknownSession = status;
    const { servers, call, clock } = open();
    await using _ = servers;
    expect((await call('echo')).data).toBe('here');
    sessions.clear();
    const again = call('echo');
    await eventually(() => servers.server('peer')?.info().status).not.toBe('ready');
    clock.pass(1_000);
    expect((await again).data).toBe('here');
  },
);

test('a call whose answer breaks off fails at once, not when its time is up', async () => {
  const { servers, call, clock } = open();
  await using _ = servers;
  await servers.ready;
  const called = new Promise<void>((resolve) => {
    isCalled = resolve;
  });
  const stuck = call('stuck');
  const lost = expect(stuck).rejects.toMatchObject({ code: 'mcp_transport_error' });
  await called;
  await new Promise((resolve) => setTimeout(resolve, 100));
  peer.closeAllConnections();
  await new Promise((resolve) => setTimeout(resolve, 100));
  clock.pass(1_000);
  await lost;
});

test.each(['notifications', ...Object.keys(STRAYS)])(
  'a server over HTTP that floods us with %s is cut off, as a program is',
  async (what) => {
    const { servers, call, clock, log } = open();
    await using _ = servers;
    await servers.ready;
    const events: unknown[] = [];
    await expect(call(what, (event) => events.push(event))).rejects.toMatchObject({ code: 'mcp_transport_error' });
    expect(events.length).toBeLessThanOrEqual(500);
    expect(log.lines.filter(({ message }) => message === 'an MCP server is cut off')).toHaveLength(1);
    clock.pass(1_000);
    await eventually(() => servers.server('peer')?.info().status).toBe('ready');
    expect((await call('echo')).data).toBe('here');
  },
);
