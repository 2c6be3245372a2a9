import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { type Server, startServer } from '../server.ts';
import { systemClock, systemIds } from '../system-ports.ts';

const folder = mkdtempSync(join(tmpdir(), 'whole-test-'));
const server = await startServer({
  config: {
    port: 0,
    store: 'memory',
    // Who has not said who it is would be put out for that, and sooner than this test waits.
    limits: { message_ms: 100, identify_ms: 60_000 },
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

const DOORS: Readonly<Record<string, (server: Server) => { port: number } | { path: string }>> = {
  'A2A messages over TCP': ({ messages }) => ({ port: portOf(messages.url) }),
  'the wire over TCP': ({ wire }) => ({ port: portOf(wire.url) }),
  'the wire over a unix socket': ({ wire }) => ({ path: wire.socket ?? '' }),
};

// Unless told it would be ten seconds.
test.each(Object.entries(DOORS))(
  'who leaves a line unfinished for longer than limits.message_ms is put out: %s',
  async (_door, at) => {
    const socket = connect({ host: '127.0.0.1', ...at(server) });
    socket.on('error', () => {}).write('{"half":');
    await once(socket, 'close');
  },
  5_000,
);

function portOf(url: string | undefined): number {
  return Number(new URL(url ?? '').port);
}
