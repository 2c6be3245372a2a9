import { randomUUID } from 'node:crypto';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { A2AClient } from '@a2a-js/sdk-0.3/client';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { isSigned, ok, type Received, Receiver } from './receiver.ts';
import { moduleAgent, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

// Push notifications of Linux Foundation A2A.

const authority = new TestAuthority();
const certificate = authority.issue(['IP:127.0.0.1']);
const good = await Receiver.start(certificate);
const flaky = await Receiver.start(certificate, (response, number) =>
  number < 2 ? response.writeHead(500).end() : ok(response),
);
const failing = await Receiver.start(certificate, (response) => response.writeHead(400).end());
const gone = await Receiver.start(certificate, (response) => response.writeHead(410).end());
const receivers = [good, flaky, failing, gone];
const system = await System.start({
  config: {
    default_agent: 'worker',
    agents: { worker: moduleAgent('worker'), asker: moduleAgent('asker') },
    gate: { callbacks: receivers.map(({ hostPort }) => hostPort), ca: [authority.path] },
    mailbox: { callbacks: { backoff_ms: 20 } },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});
const caller = await system.caller('ada-agent');
const { api_key: key } = caller;
const { webhook_secret: secret } = caller as unknown as { webhook_secret: string };
const { api_key: otherKey } = await system.caller('bob-agent');

const AGENT = '/lf-a2a/agents/worker';
const fetchImpl: typeof fetch = (input, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set('authorization', `Bearer ${key}`);
  return fetch(input, { ...options, headers });
};
const ask = async (method: string, path: string, json?: object, by = key) => {
  const answer = await call(system.url, { method, path: `${AGENT}${path}`, key: by, json });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
};
/** Sends a message and does not wait for its answer. */
const send = async (text: string, config?: object): Promise<string> => {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  const configuration = {
    returnImmediately: true,
    ...(config !== undefined && { taskPushNotificationConfig: config }),
  };
  const { json } = await ask('POST', '/message:send', { message, configuration });
  return json.task.id;
};
const cancel = (taskId: string) => ask('POST', `/tasks/${taskId}:cancel`, {});
/** The notifications of this path, after the end of the task. */
const until = async (receiver: Receiver, path: string, count: number): Promise<readonly Received[]> => {
  const arrived = () => receiver.received.filter((one) => one.path === path);
  await expect.poll(() => arrived().length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
  return arrived();
};
/** The notifications of this path, after the last event. */
const untilEnded = async (receiver: Receiver, path: string): Promise<readonly Received[]> => {
  const arrived = () => receiver.received.filter((one) => one.path === path);
  const isOver = () => arrived().some((one) => /COMPLETED|FAILED|CANCELED/.test(kindOf(one)));
  await expect.poll(isOver, { timeout: 10_000 }).toBe(true);
  return arrived();
};
/** Their kinds; pieces of one text, which may be any number, are one. */
const kindsOf = (received: readonly Received[]) =>
  received.map(kindOf).filter((kind, index, all) => kind !== 'artifactUpdate' || all[index - 1] !== kind);
const kindOf = ({ body }: Received) => {
  const [[name, value]] = Object.entries(JSON.parse(body)) as [[string, { status?: { state: string } }]];
  return value.status === undefined ? name : `${name} ${value.status.state}`;
};

describe('a config inside its message', () => {
  test('gets every event of the task in order, signed, with the configured token and authorization', async () => {
    const authentication = { scheme: 'Bearer', credentials: 'for-the-receiver' };
    const taskId = await send('work', { url: good.url('/all'), token: 'my-token', authentication });
    const received = await untilEnded(good, '/all');
    expect(kindsOf(received)).toEqual([
      'task TASK_STATE_SUBMITTED',
      'statusUpdate TASK_STATE_WORKING',
      'artifactUpdate',
      'statusUpdate TASK_STATE_COMPLETED',
    ]);
    for (const one of received) {
      expect(one.headers).toMatchObject({
        'content-type': 'application/a2a+json',
        'x-a2a-notification-token': 'my-token',
        'a2a-notification-token': 'my-token',
        authorization: 'Bearer for-the-receiver',
      });
      expect(isSigned(one, { secret })).toBe(true);
    }
    expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);
    const { json } = await ask('GET', `/tasks/${taskId}/pushNotificationConfigs/${taskId}`);
    // The credentials are for the receiver alone.
    expect(json).toEqual({
      taskId,
      id: taskId,
      url: good.url('/all'),
      token: 'my-token',
      authentication: { scheme: 'Bearer' },
    });
  });

  test('gets the question of a task, and what follows its answer', async () => {
    const path = '/lf-a2a/agents/asker/message:send';
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const configuration = { taskPushNotificationConfig: { url: good.url('/requested') } };
    const sent = await call(system.url, { method: 'POST', path, key, json: { message, configuration } });
    const { task } = (await sent.json()) as { task: { id: string } };
    const answer = { ...message, messageId: randomUUID(), taskId: task.id, parts: [{ text: 'allow' }] };
    await call(system.url, { method: 'POST', path, key, json: { message: answer } });
    expect(kindsOf(await untilEnded(good, '/requested'))).toEqual([
      'task TASK_STATE_SUBMITTED',
      'statusUpdate TASK_STATE_WORKING',
      'artifactUpdate',
      'statusUpdate TASK_STATE_INPUT_REQUIRED',
      'statusUpdate TASK_STATE_WORKING',
      'artifactUpdate',
      'statusUpdate TASK_STATE_COMPLETED',
    ]);
  });

  test('its secrets are in no file of the server as they are', async () => {
    const words = ['seen-by-no-disk-1', 'seen-by-no-disk-2'] as const;
    await send('work', {
      url: good.url('/secret'),
      token: words[0],
      authentication: { scheme: 'Bearer', credentials: words[1] },
    });
    await untilEnded(good, '/secret');
    for (const [place, bytes] of await system.kept()) {
      for (const word of words) expect([place, bytes.includes(word)]).toEqual([place, false]);
    }
    for (const word of words) expect(system.log).not.toContain(word);
  });

  test('a message whose config is refused makes no task', async () => {
    const messageId = randomUUID();
    const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'work' }] };
    const configuration = { taskPushNotificationConfig: { url: 'http://169.254.169.254/in' } };
    const { status, json } = await ask('POST', '/message:send', { message, configuration });
    expect([status, json.error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    expect((await ask('GET', '/tasks')).json.tasks).not.toContainEqual(
      expect.objectContaining({ history: [expect.objectContaining({ messageId })] }),
    );
  });
});

describe('a config for a task that runs', () => {
  test('gets what follows, where it was last named; a deleted one gets nothing more', async () => {
    const taskId = await send('hold');
    await expect.poll(async () => (await ask('GET', `/tasks/${taskId}`)).json.artifacts?.length).toBe(1);
    await ask('POST', `/tasks/${taskId}/pushNotificationConfigs`, { id: 'kept', url: good.url('/before') });
    await ask('POST', `/tasks/${taskId}/pushNotificationConfigs`, { id: 'kept', url: good.url('/kept') });
    await ask('POST', `/tasks/${taskId}/pushNotificationConfigs`, { id: 'deleted', url: good.url('/deleted') });
    expect((await ask('DELETE', `/tasks/${taskId}/pushNotificationConfigs/deleted`)).status).toBe(200);
    await cancel(taskId);
    expect((await until(good, '/kept', 1)).map(kindOf)).toEqual(['statusUpdate TASK_STATE_CANCELED']);
    expect(good.received.filter(({ path }) => path === '/deleted' || path === '/before')).toEqual([]);
  });

  test('keeps its token when the key of the vault is changed', async () => {
    const taskId = await send('hold', { url: good.url('/rotated'), token: 'kept-token' });
    await until(good, '/rotated', 3);
    const path = '/admin/v1/vault/rotate';
    const rotated = await call(system.url, { method: 'POST', path, key: system.adminKey, json: {} });
    expect(rotated.status, await rotated.text()).toBe(200);
    await cancel(taskId);
    const received = await untilEnded(good, '/rotated');
    expect(received.at(-1)?.headers).toMatchObject({ 'a2a-notification-token': 'kept-token' });
  });

  test('a receiver that fails is tried again, and the order stays', async () => {
    await send('work', { url: flaky.url('/flaky') });
    const received = await untilEnded(flaky, '/flaky');
    expect(kindsOf(received)).toEqual([
      ...Array<string>(3).fill('task TASK_STATE_SUBMITTED'),
      'statusUpdate TASK_STATE_WORKING',
      'artifactUpdate',
      'statusUpdate TASK_STATE_COMPLETED',
    ]);
    expect(new Set(received.slice(0, 3).map(({ id }) => id)).size).toBe(1);
  });

  test('a refused notification is a dead letter, and the next one is sent', async () => {
    await send('work', { url: failing.url('/refused') });
    const received = await untilEnded(failing, '/refused');
    const path = '/admin/v1/outbox?state=dead';
    const dead = async () => {
      const answer = await call(system.url, { path, key: system.adminKey });
      const { deliveries } = (await answer.json()) as { deliveries: { url: string }[] };
      return deliveries.filter(({ url }) => url === failing.url('/refused')).length;
    };
    await expect.poll(dead).toBe(received.length);
  });

  test('a receiver that is gone gets nothing more, and no further config', async () => {
    await send('work', { url: gone.url('/gone') });
    await until(gone, '/gone', 1);
    await expect.poll(async () => (await ask('POST', '/message:send', withConfig(gone.url('/gone')))).status).toBe(400);
    expect(gone.received.filter(({ path }) => path === '/gone')).toHaveLength(1);
  });
});

test('kill -9: notifications continue after the restart, none is missing and no text is sent twice', async () => {
  const taskId = await send('hold', { url: good.url('/killed') });
  await until(good, '/killed', 3);
  await system.kill();
  await system.start();
  // One whose delivery was not recorded before the kill comes again, under the same id.
  const received = await untilEnded(good, '/killed');
  const byId = new Map(received.map((one) => [one.id, kindOf(one)]));
  expect([...byId.values()]).toEqual([
    'task TASK_STATE_SUBMITTED',
    'statusUpdate TASK_STATE_WORKING',
    'artifactUpdate',
    'statusUpdate TASK_STATE_FAILED',
  ]);
  expect((await ask('GET', `/tasks/${taskId}/pushNotificationConfigs`)).json.configs).toHaveLength(1);
});

describe('configs', () => {
  test.each(Object.entries({ JSONRPC: JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory }))(
    'are created, read, listed and deleted by the official SDK 1.3.0 over %s',
    async (_, Transport) => {
      const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
      const factory = new ClientFactory({ transports: [new Transport({ fetchImpl })], cardResolver });
      const client = await factory.createFromUrl(system.url);
      const taskId = await send('work');
      const config = { tenant: '', taskId, id: 'one', url: good.url('/sdk'), token: 't', authentication: undefined };
      expect(await client.createTaskPushNotificationConfig(config)).toEqual(config);
      const named = { tenant: '', taskId, id: 'one' };
      expect(await client.getTaskPushNotificationConfig(named)).toEqual(config);
      const page = { tenant: '', taskId, pageSize: 0, pageToken: '' };
      expect((await client.listTaskPushNotificationConfig(page)).configs).toEqual([config]);
      await client.deleteTaskPushNotificationConfig(named);
      await client.deleteTaskPushNotificationConfig(named);
      expect((await client.listTaskPushNotificationConfig(page)).configs).toEqual([]);
      await expect(client.getTaskPushNotificationConfig(named)).rejects.toThrow();
    },
  );

  test('of 0.3, by the official SDK 0.3.14: a receiver gets the task each time its status changes', async () => {
    const client = await A2AClient.fromCardUrl(`${system.url}/.well-known/agent-card.json`, { fetchImpl });
    const taskId = await send('hold');
    await expect.poll(async () => (await ask('GET', `/tasks/${taskId}`)).json.artifacts?.length).toBe(1);
    const pushNotificationConfig = {
      id: 'old',
      url: good.url('/old'),
      token: 'old-token',
      authentication: { schemes: ['Basic'], credentials: 'abc' },
    };
    const shown = { ...pushNotificationConfig, authentication: { schemes: ['Basic'] } };
    expect(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig })).toMatchObject({
      result: { taskId, pushNotificationConfig: shown },
    });
    expect(
      await client.getTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: 'old' } as { id: string }),
    ).toMatchObject({
      result: { pushNotificationConfig: shown },
    });
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toMatchObject({ result: [{ taskId }] });
    await cancel(taskId);
    const [first] = await until(good, '/old', 1);
    expect(first?.headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Basic abc' });
    expect(JSON.parse(first?.body ?? '')).toMatchObject({ kind: 'task', id: taskId, status: { state: 'canceled' } });
    await client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: 'old' });
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toMatchObject({ result: [] });
  });

  test("another caller's task looks like one that is not there", async () => {
    const taskId = await send('work', { id: 'mine', url: good.url('/mine') });
    const answers = async (id: string) => {
      const base = `/tasks/${id}/pushNotificationConfigs`;
      const all = await Promise.all([
        ask('POST', base, { url: good.url('/theirs') }, otherKey),
        ask('GET', base, undefined, otherKey),
        ask('GET', `${base}/mine`, undefined, otherKey),
        ask('DELETE', `${base}/mine`, undefined, otherKey),
      ]);
      return all.map(({ status, json }) => [status, json.error.details]);
    };
    expect(await answers(taskId)).toEqual(await answers('task-unknown'));
    expect((await ask('GET', `/tasks/${taskId}/pushNotificationConfigs/mine`)).status).toBe(200);
  });

  test('a task has at most ten', async () => {
    const taskId = await send('work');
    for (let number = 0; number < 11; number++) {
      const config = { id: `config-${number}`, url: good.url('/many') };
      const { status } = await ask('POST', `/tasks/${taskId}/pushNotificationConfigs`, config);
      expect([number, status]).toEqual([number, number < 10 ? 200 : 400]);
    }
  });

  test.each([
    [{}, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{ url: 'https://10.0.0.7/in' }, 'url'],
    [{ url: 'https://localhost/in' }, 'url'],
    [{ url: 5 }, 'url'],
    [{ url: good.url(), token: 'two\r\nlines: 1' }, 'token'],
    [{ url: good.url(), id: '' }, 'id'],
    [{ url: good.url(), authentication: { credentials: 'x' } }, 'authentication.scheme'],
    [{ url: good.url(), authentication: { scheme: 'Bearer', credentials: 'a\nb' } }, 'authentication.credentials'],
  ])('%j is refused, naming %s', async (config, field) => {
    const taskId = await send('work');
    const { status, json } = await ask('POST', `/tasks/${taskId}/pushNotificationConfigs`, config);
    expect(status).toBe(400);
    expect(json.error.details).toContainEqual(
      expect.objectContaining({ fieldViolations: [expect.objectContaining({ field })] }),
    );
  });
});

function withConfig(url: string) {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'work' }] };
  return { message, configuration: { taskPushNotificationConfig: { url } } };
}
