import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import type { Config } from '../config/config-schema.ts';
import { systemClock, systemIds } from '../parts/system-ports.ts';
import { type Server, startServer } from '../server.ts';

async function serverWith(limits: Config['limits']): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'in-time-test-'));
  const server = await startServer({
    config: {
      port: 0,
      store: 'memory',
      ...(limits !== undefined && { limits }),
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
  return server;
}

const LINES: Readonly<Record<string, (server: Server) => Place>> = {
  'A2A messages over TCP': ({ messages }) => ({ port: portOf(messages.url) }),
  'the wire over TCP': ({ wire }) => ({ port: portOf(wire.url) }),
  'the wire over a unix socket': ({ wire }) => ({ path: wire.socket ?? '' }),
};
const SOCKETS: Readonly<Record<string, string>> = {
  'A2A messages over a WebSocket': '/a2a/messages/ws',
  'the wire over a WebSocket': '/a2e/ws',
};

const hasty = await serverWith({ identify_ms: 100 });
const SILENT_PEERS: Readonly<Record<string, () => Promise<void>>> = {
  ...mapped(LINES, (at) => () => disconnected(at(hasty), '')),
  ...mapped(SOCKETS, (path) => () => closedSocket(`${hasty.url}${path}`)),
};

// Default: five seconds.
test.each(Object.entries(SILENT_PEERS))(
  'a peer that does not identify itself within limits.identify_ms is disconnected: %s',
  (_name, silent) => silent(),
  3_000,
);

test('a peer with a key may wait longer on A2A messages', async () => {
  await hasty.engine.callers.put({ agent_id: 'ada-agent', permissions: {} });
  const { secret } = await hasty.engine.keys.create({ agentId: 'ada-agent', role: 'agent' });
  const socket = new WebSocket(`${hasty.url.replace('http', 'ws')}/a2a/messages/ws`, {
    headers: { 'x-api-key': secret },
  });
  await once(socket, 'open');
  await closedSocket(`${hasty.url}/a2a/messages/ws`);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.terminate();
});

// A generous identify_ms, so that only message_ms can disconnect the peers.
const brisk = await serverWith({ message_ms: 100, identify_ms: 60_000 });

// Default: ten seconds.
test.each(Object.entries(LINES))(
  'a peer that leaves a line unfinished for longer than limits.message_ms is disconnected: %s',
  (_name, at) => disconnected(at(brisk), '{"half":'),
  5_000,
);

type Place = { readonly port: number } | { readonly path: string };

/** Resolves when a peer that sends only this text is disconnected. */
async function disconnected(where: Place, text: string): Promise<void> {
  const socket = connect({ host: '127.0.0.1', ...where });
  socket.on('error', () => {}).resume();
  socket.write(text);
  await once(socket, 'close');
}

async function closedSocket(url: string): Promise<void> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  await once(socket, 'close');
}

function mapped<From, To>(all: Readonly<Record<string, From>>, change: (one: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, change(one)]));
}

function portOf(url: string | undefined): number {
  return Number(new URL(url ?? '').port);
}
