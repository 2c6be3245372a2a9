import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { realServer } from '../test-support/real-server.ts';

test('a callback that was given up is listed with the reason of each attempt, and tried again', async () => {
  const port = await freePort();
  const { client, admin } = await realServer({
    config: { gate: { callbacks: [`127.0.0.1:${port}`] }, mailbox: { callbacks: { retries: 1, backoff_ms: 1 } } },
  });
  const { outbox } = admin.admin;
  const callbackUrl = `https://127.0.0.1:${port}/in`;
  const { replyTo } = await client.mailbox.send({ from: { name: 'Me', callbackUrl }, message: 'Hello!' });
  const dead = async () => (await outbox.list({ state: 'dead', limit: 1 })).deliveries;
  await expect.poll(async () => (await dead()).length).toBe(1);
  const [given] = await dead();
  expect(given).toMatchObject({ agent_id: 'caller', request_id: replyTo, url: callbackUrl, attempts: 2 });
  expect(given?.failures.map(({ reason }) => typeof reason)).toEqual(['string', 'string']);
  const { id, state, url_enabled: isEnabled } = await outbox.retry(given?.id ?? '');
  // No answer had reported the URL as gone.
  expect([id, state, isEnabled]).toEqual([given?.id, 'due', false]);
  await expect.poll(async () => (await dead())[0]?.failures.length).toBe(4);
  expect((await outbox.list()).total).toBe(1);
  await expect(outbox.retry('cb-none')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

/** A URL without a server. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
