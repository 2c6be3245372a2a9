import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { SocketRoute } from '../http/route.ts';
import { route, startEdge } from './harness.contract.ts';

test('a caller with as many open requests as it may have waits; others do not, and an ended one makes room', async () => {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let running = 0;
  const held = route({
    path: '/held',
    handle: async () => {
      running++;
      await ended;
      return { status: 200, text: 'done' };
    },
  });
  const { url } = await startEdge({ routes: [held], limits: { maxPerCaller: 2 } });
  const as = (key: string) => fetch(`${url}/held`, { headers: { authorization: `Bearer ${key}` } });
  const mine = [as('ada'), as('ada')];
  await expect.poll(() => running).toBe(2);
  const third = await as('ada');
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await third.json()).toMatchObject({
    code: 'rate_limited',
    detail: expect.stringContaining('limit of 2 open requests'),
  });
  const other = as('admin');
  await expect.poll(() => running).toBe(3);
  end();
  expect((await Promise.all([...mine, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
  await expect.poll(async () => (await as('ada')).status).toBe(200);
});

test('WebSockets count as open requests', async () => {
  const echo: SocketRoute = {
    path: '/ws',
    access: 'agent',
    summary: 'Echoes its input.',
    open: async (connection) => {
      for await (const message of connection.messages) await connection.send(message);
    },
  };
  const { url } = await startEdge({ routes: [], sockets: [echo], limits: { maxPerCaller: 1 } });
  const dial = () => new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: 'Bearer ada' } });
  const first = dial();
  await once(first, 'open');
  const second = dial();
  const [code, reason] = await once(second, 'close');
  expect([code, String(reason)]).toEqual([
    1013,
    expect.stringContaining('limit of 1 open requests and connections for one caller'),
  ]);
  first.close();
  await once(first, 'close');
  // Its place is free when its route is over, which may be a moment later.
  await expect.poll(async () => (await saidBack(dial())) ?? 'closed').toBe('hello');
});

/** The answer of the peer; `undefined` when it closes instead. */
async function saidBack(socket: WebSocket): Promise<string | undefined> {
  await once(socket, 'open');
  socket.send('hello');
  const [answer] = await Promise.race([once(socket, 'message'), once(socket, 'close').then(() => [undefined])]);
  socket.terminate();
  return answer === undefined ? undefined : String(answer);
}
