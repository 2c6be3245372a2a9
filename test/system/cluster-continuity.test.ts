import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { Editor, openSession, prompt, startAcp, stdioStream } from './acp-editor.ts';
import { allFrames, call } from './call.ts';
import { ClusterSystem } from './cluster-system.ts';
import { CountingApi } from './counting-api.ts';
import { Receiver } from './receiver.ts';
import { moduleAgent } from './system.ts';
import { TestAuthority } from './test-authority.ts';
import { workflowOf } from './workflow-caller.ts';

// What is begun at one of three real nodes continues at the others, also after the first was killed.

const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
const api = await CountingApi.start();
/** Callbacks to this receiver fail while this is true. */
let isBroken = true;
const broken = await Receiver.start(authority.issue(['IP:127.0.0.1']), (response) => {
  response.writeHead(isBroken ? 500 : 200).end();
});
const cluster = await ClusterSystem.start(3, {
  default_agent: 'echo',
  agents: { echo: moduleAgent('echo'), asker: moduleAgent('asker'), historian: moduleAgent('historian') },
  apis: { shop: { base_url: api.url } },
  mailbox: { requests_per_minute: 10_000, callbacks: { retries: 1, backoff_ms: 300 } },
  gate: { allow: [api.host], callbacks: [receiver.hostPort, broken.hostPort], ca: [authority.path] },
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await broken[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});
const { key } = cluster;
const [one, two, three] = cluster.nodes as [Node, Node, Node];
type Node = (typeof cluster.nodes)[0];

const json = async (node: Node, path: string, as = key) =>
  (await (await call(node.url, { path, key: as })).json()) as JsonObject;
const admin = async (node: Node, method: string, path: string) => {
  const answer = await call(node.url, { method, path, key: one.adminKey });
  return (await answer.json()) as JsonObject;
};
const questions = async (node: Node) =>
  (await json(node, '/e2a/questions'))['questions'] as { request_id: string; question_id: string }[];

describe('an editor that changes its node', () => {
  async function edit<T>(node: Node, work: Parameters<typeof Editor.prototype.run<T>>[1], editor = new Editor()) {
    const child = startAcp(node.command, ['--url', node.url, '--agent', 'historian'], { DRAGOMAN_KEY: key });
    try {
      return await editor.run(stdioStream(child), work);
    } finally {
      child.kill('SIGKILL');
    }
  }

  test('lists and loads its sessions, and continues them', async () => {
    const sessionId = await edit(one, async (context) => {
      const session = await openSession(context);
      await prompt(context, session.sessionId, 'first');
      return session.sessionId;
    });
    const editor = new Editor();
    await edit(
      two,
      async (context) => {
        const { sessions } = await context.request('session/list', {});
        expect(sessions.map((session) => session.sessionId)).toContain(sessionId);
        await context.request('session/load', { sessionId, cwd: '/work', mcpServers: [] });
        await prompt(context, sessionId, 'second');
        await context.request('session/list', {});
      },
      editor,
    );
    expect(editor.text).toContain(': first');
  });
});

test('an MCP client is notified at one node that an agent was added at another', async () => {
  const client = new Client({ name: 'test-client', version: '1.0.0' });
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', two.url), { requestInit }));
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names()).not.toContain('ask_added');
  await one.caller('added', { permissions: {}, ...moduleAgent('echo') });
  await expect.poll(names).toContain('ask_added');
  await expect.poll(() => changes).toBeGreaterThan(0);
  await client.close();
});

test('a secret, a stored workflow and a permission that change at one node count at another', async () => {
  const put = async (path: string, body: JsonObject) => {
    const answer = await call(one.url, { method: 'PUT', path, key: one.adminKey, json: body });
    expect(answer.status, await answer.text()).toBeLessThan(300);
  };
  const sends = (path: string) => ({
    ApiCall: {
      ...{ method: 'GET', url: `${api.url}/${path}`, outputPath: '/workflow/sent' },
      headers: { Authorization: { credentialRef: { id: 'token' } } },
    },
  });
  for (const path of ['first', 'second']) api.answers(`GET /${path}`, {});
  const secret = (value: string) =>
    put('/admin/v1/credentials/token', { type: 'bearer-token', value, hosts: [api.host] });
  const store = (path: string) =>
    put('/admin/v1/workflows/sends', { workflow: workflowOf({ send: sends(path) }), description: 'sends' });
  const all = ['*'];
  const permissions = { agents: all, operations: all, apis: all, credentials: all, workflows: all };
  const { api_key: worker } = await one.caller('worker', { permissions });
  let runs = 0;
  const run = async () => {
    runs += 1;
    const envelope = { request_id: `sends-${runs}`, agent_ref: { id: 'workflows' }, method: 'sends', params: {} };
    const answer = await call(two.url, { method: 'POST', path: '/e2a', key: worker, json: envelope });
    const { status } = (await answer.json()) as JsonObject;
    const { path = '', headers = {} } = api.requests.at(-1) ?? {};
    return [status, path, headers.authorization];
  };
  await secret('sk-the-first-secret');
  await store('first');
  await expect.poll(run).toEqual(['succeeded', '/first', 'Bearer sk-the-first-secret']);
  await secret('sk-the-second-secret');
  await expect.poll(run).toEqual(['succeeded', '/first', 'Bearer sk-the-second-secret']);
  await store('second');
  await expect.poll(run).toEqual(['succeeded', '/second', 'Bearer sk-the-second-secret']);
  const changed = { agent_id: 'worker', permissions: { ...permissions, workflows: [] } };
  const path = '/admin/v1/agents';
  expect((await call(one.url, { method: 'POST', path, key: one.adminKey, json: changed })).status).toBe(200);
  await expect.poll(async () => (await run())[0]).toBe(403);
});

describe('the card of an agent', () => {
  test('has the same tag at every node, so that a client with a copy is not sent another', async () => {
    const headers = { host: 'localhost' };
    const path = '/lf-a2a/agents/echo/.well-known/agent-card.json';
    const tags = new Set<string | undefined>();
    for (const { url } of cluster.nodes) tags.add((await call(url, { path, key, headers })).headers.etag);
    expect(tags.size).toBe(1);
    const [tag = ''] = tags;
    for (const { url } of cluster.nodes) {
      expect((await call(url, { path, key, headers: { ...headers, 'if-none-match': tag } })).status).toBe(304);
    }
  });
});

describe('callbacks', () => {
  test('of a task are sent by one node each, also when its config was stored and its question answered at others', async () => {
    const path = '/lf-a2a/agents/asker';
    const ask = async (node: Node, under: string, body: object) => {
      const headers = { 'a2a-version': '1.0' };
      const answer = await call(node.url, { method: 'POST', path: `${path}${under}`, key, json: body, headers });
      return (await answer.json()) as JsonObject & { task: { id: string } };
    };
    const message = (text: string, more: object = {}) => ({
      message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
    });
    const { task } = await ask(one, '/message:send', message('go'));
    const config = { id: 'mine', url: receiver.url('/task') };
    for (const node of [two, three]) await ask(node, `/tasks/${task.id}/pushNotificationConfigs`, config);
    await ask(three, '/message:send', message('allow', { taskId: task.id }));
    const bodies = () => receiver.received.filter((received) => received.path === '/task').map(({ body }) => body);
    await expect.poll(() => bodies().at(-1)).toContain('TASK_STATE_COMPLETED');
    const ids = receiver.received.filter((received) => received.path === '/task').map(({ id }) => id);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(bodies().filter((body) => body.includes('TASK_STATE_COMPLETED'))).toHaveLength(1);
  });

  const send = async (node: Node, messageId: string) => {
    const body = {
      ...{ version: '0.3.0', from: { name: 'client', callbackUrl: broken.url(`/${messageId}`) }, to: { name: 'echo' } },
      ...{ message: { contentType: 'text/plain', content: 'hi' }, metadata: { messageId } },
    };
    expect((await cluster.post(node, '/a2a', body)).status).toBe(200);
  };
  const arrived = (messageId: string) => broken.received.filter(({ path }) => path === `/${messageId}`);
  const delivery = async (messageId: string) => {
    const { deliveries = [] } = (await admin(two, 'GET', '/admin/v1/outbox')) as unknown as { deliveries: Delivery[] };
    return deliveries.find(({ url }) => url.endsWith(`/${messageId}`));
  };

  test('that have failed at one node are tried again through another', async () => {
    await send(one, 'to-retry');
    await expect.poll(() => delivery('to-retry')).toMatchObject({ state: 'dead' });
    const before = arrived('to-retry').length;
    isBroken = false;
    const { id } = (await delivery('to-retry')) as Delivery;
    await admin(three, 'POST', `/admin/v1/outbox/${id}/retry`);
    await expect.poll(() => delivery('to-retry')).toMatchObject({ state: 'delivered' });
    expect(arrived('to-retry')).toHaveLength(before + 1);
    isBroken = true;
  });

  test('that one node would try again are given up through another', async () => {
    await send(one, 'to-give-up');
    await expect.poll(() => arrived('to-give-up').length).toBe(1);
    const { id } = (await delivery('to-give-up')) as Delivery;
    await admin(three, 'POST', `/admin/v1/outbox/${id}/give-up`);
    // The next one is tried after it would have been.
    await send(one, 'after-that');
    await expect.poll(() => delivery('after-that')).toMatchObject({ state: 'dead' });
    expect(arrived('to-give-up')).toHaveLength(1);
  });
});

describe('a request for a workflow whose node is killed', () => {
  const steps = (id: string) =>
    workflowOf(
      {
        quick: { ApiCall: { method: 'GET', url: `${api.url}/quick-${id}`, outputPath: '/workflow/quick' } },
        ask: { AskApproval: { title: 'Order?', outputPath: '/workflow/approval' } },
        order: { ApiCall: { method: 'POST', url: `${api.url}/order-${id}`, body: {}, outputPath: '/workflow/order' } },
      },
      { id },
    );
  const execute = (requestId: string, id: string) => ({
    ...{ request_id: requestId, agent_ref: { id: 'workflows' }, method: 'workflow.execute' },
    params: { workflow: steps(id) },
  });
  const ids = Array.from({ length: 6 }, (_, index) => `crossing-${index}`);

  test('is answered and cancelled through the others, wherever it and its execution continue; no step is done twice', async () => {
    for (const id of ids) {
      api.answers(`GET /quick-${id}`, { quick: true });
      api.answers(`POST /order-${id}`, { id: 1 });
      (await cluster.stream(one, execute(`request-${id}`, id))).destroy();
    }
    await expect.poll(async () => (await questions(two)).length).toBe(ids.length);
    const asked = await questions(two);
    await one.kill();
    await expect.poll(async () => (await questions(two)).length).toBe(ids.length);
    // The same questions, under the same ids.
    expect(new Set((await questions(three)).map(({ question_id }) => question_id))).toEqual(
      new Set(asked.map(({ question_id }) => question_id)),
    );
    const [cancelled = '', ...answered] = ids;
    const cancel = `/e2a/requests/request-${cancelled}/cancel`;
    expect(await cluster.post(three, cancel, undefined)).toMatchObject({ status: 200, body: { cancelled: true } });
    for (const [index, id] of answered.entries()) {
      const question = asked.find(({ request_id }) => request_id === `request-${id}`);
      const path = `/e2a/requests/request-${id}/questions/${question?.question_id}`;
      expect((await cluster.post(index % 2 === 0 ? two : three, path, { option_id: 'allow' })).status).toBe(200);
    }
    for (const id of ids) {
      const there = await allFrames(await cluster.resume(two, `request-${id}`, -1));
      expect(await allFrames(await cluster.resume(three, `request-${id}`, -1))).toEqual(there);
      const frames = there.map((frame) => JSON.parse(frame));
      expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
      expect(frames.filter(({ is_final }) => is_final)).toHaveLength(1);
      const isCancelled = id === cancelled;
      expect(frames.at(-1)).toMatchObject(isCancelled ? { body: { code: 'E2A.CANCELLED' } } : { status: 'succeeded' });
      expect(api.count(`GET /quick-${id}`), id).toBe(1);
      expect(api.count(`POST /order-${id}`), id).toBe(isCancelled ? 0 : 1);
      const status = isCancelled ? 'cancelled' : 'success';
      for (const node of [two, three])
        await expect.poll(() => json(node, `/api/v1/executions/${id}`)).toMatchObject({ status });
    }
    await cluster.startNode(one);
  });
});

interface Delivery {
  readonly id: string;
  readonly url: string;
  readonly state: string;
}
