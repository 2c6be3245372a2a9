import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { type Server, startServer } from '../server.ts';
import { systemClock, systemIds } from '../system-ports.ts';

const folder = mkdtempSync(join(tmpdir(), 'identify-test-'));
const server = await startServer({
  config: {
    port: 0,
    store: 'memory',
    limits: { identify_ms: 100 },
    messages: { port: 0 },
    wire: { port: 0, socket: join(folder, 'wire.sock') },
  },
  folder,
  clock: systemClock,
  ids: systemIds,
  log: new SilentLog(),
});
afterAll(async () => {
  await server.stop({ drainMs: 100 });
  rmSync(folder, { recursive: true, force: true });
});

const DOORS: Readonly<Record<string, (server: Server) => Promise<unknown>>> = {
  'A2A messages over a WebSocket': ({ url }) => closedSocket(`${url}/a2a/messages/ws`),
  'A2A messages over TCP': ({ messages }) => closedLines({ port: portOf(messages.url) }),
  'the wire over a WebSocket': ({ url }) => closedSocket(`${url}/a2e/ws`),
  'the wire over TCP': ({ wire }) => closedLines({ port: portOf(wire.url) }),
  'the wire over a unix socket': ({ wire }) => closedLines({ path: wire.socket ?? '' }),
};

// Unless told it would be five seconds.
test.each(Object.entries(DOORS))(
  'who does not prove who they are within limits.identify_ms is put out: %s',
  async (_door, silent) => {
    await silent(server);
  },
  3_000,
);

test('whoever came with a key to A2A messages need not hurry', async () => {
  await server.engine.callers.put({ agent_id: 'ada-agent', permissions: {} });
  const { secret } = await server.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/a2a/messages/ws`, {
    headers: { 'x-api-key': secret },
  });
  await once(socket, 'open');
  await closedSocket(`${server.url}/a2a/messages/ws`);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.terminate();
});

async function closedSocket(url: string): Promise<void> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  await once(socket, 'close');
}

async function closedLines(where: { port: number } | { path: string }): Promise<void> {
  const socket = connect({ host: '127.0.0.1', ...where });
  socket.resume();
  await once(socket, 'end');
  socket.destroy();
}

function portOf(url: string | undefined): number {
  return Number(new URL(url ?? '').port);
}
