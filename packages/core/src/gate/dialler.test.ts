import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listening } from '../../test-support/ports.ts';
import { systemClock } from '../../test-support/system-clock.ts';
import { Dialler } from './dialler.ts';

test('a connection that leads to another address than was judged is given up', async () => {
  const ends: Promise<void>[] = [];
  const server = createServer((socket) => {
    ends.push(new Promise((resolve) => socket.on('error', () => {}).once('close', () => resolve())));
    socket.resume();
  });
  const port = await listening(server);
  const dialler = new Dialler({ clock: systemClock, ca: [], connectMs: 10_000 });
  const there = await dialler.dial({ address: '127.0.0.1', port, tls: undefined });
  there.destroy();
  // The address of nothing in particular, which leads to this machine.
  const elsewhere = dialler.dial({ address: '0.0.0.0', port, tls: undefined });
  await expect(elsewhere).rejects.toMatchObject({ code: 'EPEER' });
  await expect.poll(() => ends.length).toBe(2);
  await Promise.all(ends);
  server.close();
});
