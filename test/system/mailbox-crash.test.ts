import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { ok, Receiver } from './receiver.ts';
import { agentModule, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

const authority = new TestAuthority();
const certificate = authority.issue(['IP:127.0.0.1']);
let onReceived: ((number: number) => 'answer' | 'hold') | undefined;
const receiver = await Receiver.start(certificate, (response, number) => {
  if (onReceived?.(number) !== 'hold') ok(response);
});
// The first two tries are followed by a pause that is long enough to be killed in.
const failing = await Receiver.start(certificate, (response, number) =>
  response.writeHead(503, number < 2 ? { 'retry-after': '1' } : {}).end(),
);
const gone = await Receiver.start(certificate, (response) => response.writeHead(410).end());

const system = System.create({
  crashPoints: true,
  config: {
    default_agent: 'letters',
    agents: { letters: { driver: 'module', module: agentModule('letters'), max_parallel: 64 } },
    mailbox: { requests_per_minute: 100_000, callbacks: { timeout_ms: 2000, backoff_ms: 60 } },
    gate: { callbacks: [receiver, failing, gone].map(({ hostPort }) => hostPort), ca: [authority.path] },
  },
});
await system.start();
const { api_key: key } = await system.caller('my-agent');
await system.kill();
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const one of [receiver, failing, gone]) await one[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});

describe('kill -9', () => {
  // The first two commits are of the start. Then: accepted with its message, started, answered, settled, delivered.
  const points = [
    ...[3, 4, 5, 6, 7].map((number) => `before-commit:${number}`),
    ...[3, 5, 7].map((number) => `after-commit:${number}`),
  ];

  test.each(points)(
    'at %s: a message that was acknowledged is called back, under one id, with the same bytes',
    async (point) => {
      const messageId = `msg_${point}`;
      const threadId = `thread_${point}`;
      const callbacks = () => receiver.received.filter(({ path }) => path === `/${point}`);
      const json = message(receiver.url(`/${point}`), { messageId, threadId });
      if (await system.begin({ DRAGOMAN_CRASH: point })) {
        await post(json).catch(() => undefined);
        // Whatever is left to do happens now, and with it the crash, if it was not there yet.
        await Promise.race([system.exited, until(() => callbacks().length > 0).then(() => settle(100))]);
        await system.kill();
      }
      await system.start();
      // Who was not acknowledged sends it again; who was gets the same once more.
      expect((await post(json))[0]).toBe(200);
      await until(() => callbacks().length > 0);
      await until(async () => (await deliveryOf(messageId))?.['state'] === 'delivered');
      expect(new Set(callbacks().map(({ id }) => id)).size).toBe(1);
      expect(new Set(callbacks().map(({ body }) => body)).size).toBe(1);
      const { messages } = (await get(`/a2a/threads/${threadId}`)) as unknown as { messages: JsonObject[] };
      expect(messages.map(({ sequence }) => sequence)).toEqual([1, 2]);
      expect(await get(`/a2a/messages/${messageId}`)).toEqual(JSON.parse(callbacks()[0]?.body ?? ''));
      await system.kill();
    },
  );

  test('when the receiver has it and we do not know yet: it is sent again, unchanged', async () => {
    await system.start();
    const before = receiver.received.length;
    onReceived = () => {
      system.signal('SIGKILL');
      return 'hold';
    };
    await post(message(receiver.url('/unknown'), { messageId: 'msg_unknown' }));
    await receiver.until(before + 1);
    await system.exited;
    onReceived = undefined;
    await system.start();
    await receiver.until(before + 2);
    const [first, second] = receiver.received.slice(before);
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
    await until(async () => (await deliveryOf('msg_unknown'))?.['state'] === 'delivered');
    await system.kill();
    await system.start();
    await settle(200);
    expect(receiver.received.length).toBe(before + 2);
    await system.kill();
  });

  test('while the agent works: the callback reports the interruption', async () => {
    await system.start();
    const before = receiver.received.length;
    const json = message(receiver.url('/interrupted'), { messageId: 'msg_interrupted' });
    await post({ ...json, message: { content: { wait_ms: 60_000 } } });
    await system.kill();
    await system.start();
    const [callback] = (await receiver.until(before + 1)).slice(before);
    expect(JSON.parse(callback?.body ?? '')).toMatchObject({
      replyTo: 'msg_interrupted',
      metadata: { status: 'error' },
      message: { content: { code: 'E2A.INTERRUPTED' } },
    });
    await system.kill();
  });

  test('between tries: the rest of them follow, and not one more', async () => {
    await system.start();
    await post(message(failing.url(), { messageId: 'msg_failing' }));
    for (const tries of [1, 2]) {
      await failing.until(tries);
      await until(async () => ((await deliveryOf('msg_failing'))?.['attempts'] as number) >= tries);
      await system.kill();
      await system.start();
    }
    await until(async () => (await deliveryOf('msg_failing'))?.['state'] === 'dead');
    const { attempts, failures } = (await deliveryOf('msg_failing')) ?? {};
    expect([attempts, (failures as JsonObject[]).length, failing.received.length]).toEqual([4, 4, 4]);
    await system.kill();
    await system.start();
    await settle(200);
    expect(failing.received.length).toBe(4);
    await system.kill();
  });

  test('after 410, and past its expiry: nothing is sent any more', async () => {
    await system.start();
    await post(message(gone.url(), { messageId: 'msg_gone' }));
    await until(async () => (await deliveryOf('msg_gone'))?.['state'] === 'dead');
    const expiresAt = new Date(Date.now() + 1200).toISOString();
    const before = failing.received.length;
    await post(message(failing.url(), { messageId: 'msg_expiring', expiresAt }));
    await failing.until(before + 1);
    await system.kill();
    const sent = failing.received.length;
    while (Date.now() <= Date.parse(expiresAt)) await settle(20);
    await system.start();
    await until(async () => (await deliveryOf('msg_expiring'))?.['state'] === 'dead');
    expect([failing.received.length, gone.received.length]).toEqual([sent, 1]);
    expect((await post(message(gone.url(), { messageId: 'msg_again' })))[0]).toBe(400);
    await system.kill();
  });

  test('keys of the signatures stay what they were', async () => {
    const keys: unknown[] = [];
    for (let life = 0; life < 2; life += 1) {
      await system.start();
      keys.push(
        ((await (await call(system.url, { path: '/agent' })).json()) as { callbacks: JsonObject }).callbacks[
          'publicKey'
        ],
      );
      await system.kill();
    }
    expect(keys[0]).toMatch(/^whpk_/);
    expect(keys[1]).toBe(keys[0]);
  });
});

function message(callbackUrl: string, metadata: JsonObject): JsonObject {
  return { from: { name: 'Me', callbackUrl }, message: 'hello', metadata };
}

async function post(json: JsonObject): Promise<[number, JsonObject]> {
  const answer = await call(system.url, { method: 'POST', path: '/a2a', json, key });
  return [answer.status, (await answer.json()) as JsonObject];
}

async function get(path: string): Promise<JsonObject> {
  return (await (await call(system.url, { path, key })).json()) as JsonObject;
}

async function deliveryOf(requestId: string): Promise<JsonObject | undefined> {
  const answer = await call(system.url, { path: '/admin/v1/outbox?limit=200', key: system.adminKey });
  const { deliveries } = (await answer.json()) as { deliveries: JsonObject[] };
  return deliveries.find(({ request_id }) => request_id === requestId);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await settle(10);
}

function settle(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
