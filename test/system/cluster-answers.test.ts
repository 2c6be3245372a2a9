import { once } from 'node:events';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CARD, heading } from './a2a-peer.ts';
import { allFrames, call, type HttpAnswer } from './call.ts';
import { ClusterSystem } from './cluster-system.ts';
import { CountingApi } from './counting-api.ts';
import { DialledAgent } from './dialled-agent.ts';
import { moduleAgent } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

// Two real servers on one PostgreSQL: whatever a client does with a request, it can do at either of them.

const api = await CountingApi.start();
const cluster = await ClusterSystem.start(2, {
  default_agent: 'echo',
  agents: {
    away: { driver: 'e2a-ws' },
    echo: moduleAgent('echo'),
    held: moduleAgent('held'),
    load: moduleAgent('load'),
    asker: moduleAgent('asker'),
  },
  apis: {
    shop: { base_url: api.url },
  },
  gate: { allow: [api.host] },
});
const [one, two] = cluster.nodes as [(typeof cluster.nodes)[0], (typeof cluster.nodes)[0]];
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const last = (frames: readonly string[]) => JSON.parse(frames.at(-1) ?? '{}');
const slow = (requestId: string, words: number, pauseMs: number) => ({
  request_id: requestId,
  method: 'chat.send',
  agent_ref: { id: 'load' },
  params: { content: Array.from({ length: words }, (_, index) => `w${index}`).join(' '), pause_ms: pauseMs },
});
const held = (requestId: string) => ({
  request_id: requestId,
  method: 'chat.send',
  agent_ref: { id: 'held' },
  params: {},
});

/** Sends it, and waits for its first frame. */
async function startRequest(requestId: string): Promise<HttpAnswer> {
  const answer = await cluster.stream(one, held(requestId));
  for await (const frame of answer.frames()) {
    expect(JSON.parse(frame)).toMatchObject({ sequence: 0 });
    return answer;
  }
  throw new Error('no frame came');
}

describe('a request that one node answers', () => {
  test('is read through another while it runs, frame by frame, byte for byte', async () => {
    const sending = cluster.stream(one, slow('followed', 60, 20)).then(allFrames);
    await expect.poll(async () => (await cluster.resume(two, 'followed', -1)).status).toBe(200);
    const [here, there] = await Promise.all([sending, cluster.resume(two, 'followed', -1).then(allFrames)]);
    expect(there).toEqual(here);
    expect(here).toHaveLength(61);
    expect(await allFrames(await cluster.resume(two, 'followed', 40))).toEqual(here.slice(41));
  });

  test('is not answered twice when it is sent to both at once', async () => {
    for (let count = 0; count < 10; count += 1) {
      const request = slow(`both-${count}`, 5, 5);
      const [here, there] = await Promise.all([
        cluster.stream(one, request).then(allFrames),
        cluster.stream(two, request).then(allFrames),
      ]);
      expect(there).toEqual(here);
    }
  });

  test('is cancelled through another', async () => {
    const answer = await startRequest('to-cancel');
    const cancelled = await cluster.post(two, '/e2a', {
      request_id: 'cancel',
      method: 'session/cancel',
      agent_ref: { id: 'held' },
    });
    expect(cancelled.status).toBe(200);
    answer.destroy();
    expect(last(await allFrames(await cluster.resume(two, 'to-cancel', -1)))).toMatchObject({
      response_kind: 'e2a.error',
      body: { code: 'E2A.CANCELLED' },
    });
  });

  test('is paused and resumed through another', async () => {
    const interrupt = (intent: string) =>
      cluster.post(two, '/e2a', {
        ...{ request_id: `${intent}-it`, session_id: 'paused', agent_ref: { id: 'load' } },
        ...{ method: 'chat.interrupt', params: { intent } },
      });
    const sending = await cluster.stream(one, { ...slow('to-pause', 20, 50), session_id: 'paused' });
    const frames = sending.frames();
    await frames.next();
    expect(await interrupt('pause')).toMatchObject({ body: { body: { result: { message: 'pause: 1 running' } } } });
    const recorded = async () => {
      const answer = await call(two.url, { path: '/e2a/requests/to-pause/responses', key: cluster.key });
      return ((await answer.json()) as { responses: unknown[] }).responses.length;
    };
    const before = await recorded();
    // Longer than the whole answer would take.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    // One frame may have been on its way.
    expect(await recorded()).toBeLessThan(before + 2);
    expect(await interrupt('resume')).toMatchObject({ body: { body: { result: { message: 'resume: 1 running' } } } });
    const rest: string[] = [];
    for await (const frame of frames) rest.push(frame);
    expect(last(rest)).toMatchObject({ sequence: 20, is_final: true, status: 'succeeded' });
  });
});

describe('the memory of one node', () => {
  test('a question is listed and answered through another', async () => {
    const asking = { request_id: 'asks', method: 'chat.send', agent_ref: { id: 'asker' }, params: { content: {} } };
    const sending = cluster.stream(one, asking).then(allFrames);
    const listed = async () => {
      const answer = await call(two.url, { path: '/e2a/questions', key: cluster.key });
      return ((await answer.json()) as { questions: { request_id: string; question_id: string }[] }).questions;
    };
    await expect.poll(listed).toHaveLength(1);
    const [question] = await listed();
    const path = `/e2a/requests/asks/questions/${question?.question_id}`;
    const answered = await cluster.post(two, path, { option_id: 'allow' });
    expect(answered).toMatchObject({ status: 200, body: { answer: { option_id: 'allow', by: 'client' } } });
    expect(last(await sending)).toMatchObject({ body: { result: { answer: { option_id: 'allow' } } } });
    expect((await cluster.post(two, path, { option_id: 'allow' })).status).toBe(409);
  });

  test('a wire session over plain HTTP is refused by another, which names the fix', async () => {
    const { body } = await cluster.post(one, '/a2e/session', undefined);
    const headers = { 'x-session-id': String(body['session_id']) };
    const answer = await call(two.url, { path: '/a2e/stream', key: cluster.key, headers });
    expect(answer.status).toBe(421);
    expect(await answer.json()).toMatchObject({ code: 'other_node', suggestions: expect.any(Array) });
  });
});

describe('an execution that one node runs', () => {
  test('is read and cancelled through another', async () => {
    const workflow = workflowOf({ wait: { Wait: { duration: 25_000 } } }, { id: 'waits' });
    const headers = { prefer: 'respond-async' };
    const path = '/api/v1/workflows/execute';
    const accepted = await call(one.url, { method: 'POST', path, key: cluster.key, headers, json: { workflow } });
    expect(accepted.status, await accepted.text()).toBe(202);
    const read = await call(two.url, { path: '/api/v1/executions/waits', key: cluster.key });
    expect(await read.json()).toMatchObject({ status: 'running' });
    const repeated = cluster.post(two, path, { workflow });
    const ended = await call(two.url, { method: 'POST', path: '/api/v1/executions/waits/cancel', key: cluster.key });
    expect(await ended.json()).toMatchObject({ cancelled: true });
    expect(await repeated).toMatchObject({ body: { status: 'cancelled' } });
    const after = await call(one.url, { path: '/api/v1/executions/waits', key: cluster.key });
    expect(await after.json()).toMatchObject({ status: 'cancelled' });
  });

  test('tells its events through another while it runs, and a request for it there continues it', async () => {
    const get = (path: string) => ({
      ApiCall: { method: 'GET', url: `${api.url}/${path}`, outputPath: `/workflow/${path}` },
    });
    api.answers('GET /quick', { quick: true });
    api.behaviours.set('GET /held', () => {});
    const workflow = workflowOf({ quick: get('quick'), held: get('held') }, { id: 'tells' });
    const headers = { prefer: 'respond-async' };
    const path = '/api/v1/workflows/execute';
    const accepted = await call(one.url, { method: 'POST', path, key: cluster.key, headers, json: { workflow } });
    expect(accepted.status, await accepted.text()).toBe(202);
    const events = (node: typeof one) =>
      call(node.url, { path: '/api/v1/executions/tells/events', key: cluster.key, accept: 'text/event-stream' });
    const request = {
      request_id: 'joins',
      agent_ref: { id: 'workflows' },
      method: 'workflow.execute',
      params: { workflow },
    };
    const [here, there, joined] = [reader(events(one)), reader(events(two)), reader(cluster.stream(two, request))];
    for (const { read } of [here, there, joined]) {
      await expect.poll(read, { timeout: 30_000 }).toHaveLength(3);
      expect(read().at(-1)).toContain('"held"');
    }
    const page = async (node: typeof one) =>
      (await call(node.url, { path: '/e2a/requests/tells/responses', key: cluster.key })).json();
    expect(await page(one)).toMatchObject({ responses: [{ sequence: 0 }, {}, {}], is_final: false });
    expect(await page(two)).toEqual(await page(one));
    const state = async (node: typeof one) =>
      (await call(node.url, { path: '/api/v1/executions/tells', key: cluster.key })).json();
    expect(await state(one)).toMatchObject({ status: 'running', results: { quick: expect.anything() } });
    expect(await state(two)).toEqual(await state(one));
    await call(one.url, { method: 'POST', path: '/api/v1/executions/tells/cancel', key: cluster.key });
    for (const { over } of [here, there, joined]) await over;
    expect(here.read().at(-1)).toContain('"status":"cancelled"');
    expect(there.read()).toEqual(here.read());
    expect(joined.read().map((frame) => JSON.parse(frame).sequence)).toEqual(here.read().map((_, index) => index));
  });

  test('shows through another the question it waits with, and a repeat there does not wait for its answer', async () => {
    const question = { title: 'Go on?', options: [{ id: 'yes', name: 'Yes' }] };
    const workflow = workflowOf(
      { ask: { AskApproval: { ...question, outputPath: '/workflow/answer' } } },
      { id: 'asks-a-person' },
    );
    const path = '/api/v1/workflows/execute';
    const waiting = await cluster.post(one, path, { workflow });
    expect(waiting).toMatchObject({ status: 202, body: { questions: [{ title: 'Go on?' }] } });
    expect(await cluster.post(two, path, { workflow })).toEqual(waiting);
    const read = await call(two.url, { path: '/api/v1/executions/asks-a-person', key: cluster.key });
    expect(await read.json()).toEqual(waiting.body);
    const [{ question_id } = { question_id: '' }] = waiting.body['questions'] as { question_id: string }[];
    const answer = `/e2a/requests/asks-a-person/questions/${question_id}`;
    expect((await cluster.post(two, answer, { option_id: 'yes' })).status).toBe(200);
    expect(await cluster.post(two, path, { workflow })).toMatchObject({ status: 200, body: { status: 'success' } });
  });
});

/** What has come of a stream by now, and its end. */
function reader(answering: Promise<HttpAnswer>) {
  const frames: string[] = [];
  const over = (async () => {
    for await (const frame of (await answering).frames()) frames.push(frame);
  })();
  return { read: () => frames, over };
}

describe('an agent that has dialled in to one node', () => {
  const ask = (requestId: string, more: object = {}) => ({
    ...{ request_id: requestId, method: 'chat.send', agent_ref: { id: 'away' }, params: { content: 'hi' } },
    ...more,
  });
  const dialled = async () => {
    const { api_key: key } = await one.caller('away', { permissions: { agents: ['*'] } });
    // The other node knows the key by now, or learns it with its next beat.
    await expect.poll(async () => (await call(two.url, { path: '/e2a/questions', key })).status).not.toBe(401);
    return key;
  };
  let key = '';

  test('answers a request to another node, which sees its cancellation at once', async () => {
    key = await dialled();
    const agent = await DialledAgent.dial(two.url, key);
    let sent = 0;
    // Until the other node knows of the connection, it reports that the agent is not connected.
    await expect
      .poll(async () => {
        sent += 1;
        let frames: readonly string[] | undefined;
        const sending = cluster.stream(one, ask(`across-${sent}`)).then(allFrames);
        void sending.then((all) => {
          frames = all;
        });
        while (frames === undefined) {
          for (const { request_id } of agent.received.splice(0)) agent.complete(request_id, { word: 'you' });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return last(await sending).body.result;
      })
      .toEqual({ word: 'you' });
    const second = cluster.stream(one, ask('across-cancelled')).then(allFrames);
    await expect.poll(() => agent.received.some((received) => received.request_id === 'across-cancelled')).toBe(true);
    await cluster.post(one, '/e2a', { request_id: 'stop', method: 'session/cancel', agent_ref: { id: 'away' } });
    expect(last(await second)).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
    agent.close();
  });

  test('is given what waited for it on another', async () => {
    const expires_at = new Date(Date.now() + 600_000).toISOString();
    await expect
      .poll(async () => last(await cluster.stream(one, ask(`gone-${Math.random()}`)).then(allFrames)).response_kind)
      .toBe('e2a.error');
    const auth = { bearer_token: 'tok-of-the-caller' };
    const asked = ask('waits-for-it', { auth, channel_context: { expires_at } });
    const waiting = cluster.stream(one, asked).then(allFrames);
    await expect.poll(async () => (await cluster.resume(two, 'waits-for-it', -1)).status).toBe(200);
    const agent = await DialledAgent.dial(two.url, key);
    const received = () => agent.received.find(({ request_id }) => request_id === 'waits-for-it');
    await expect.poll(received).toMatchObject({ auth });
    agent.complete('waits-for-it', { late: true });
    expect(last(await waiting)).toMatchObject({ body: { result: { late: true } } });
    agent.close();
  });
});

test('an agent that is registered with the endpoint "connection:" answers requests to another node', async () => {
  const agentId = 'registered';
  const { api_key: key } = await one.caller(agentId, { permissions: { agents: ['*'] } });
  const agent_card = { ...CARD, agent_id: agentId };
  const json = { agent_card, endpoint: 'connection:' };
  const registered = await call(one.url, { method: 'POST', path: '/agents/register', key, json });
  expect(registered.status, await registered.text()).toBe(201);
  // The other node knows of it by now, or learns it with its next beat.
  await expect.poll(async () => (await call(two.url, { path: `/agents/${agentId}`, key })).status).toBe(200);
  const socket = new WebSocket(`${two.url.replace('http', 'ws')}/a2a/messages/ws`, {
    headers: { authorization: `Bearer ${key}` },
  });
  socket.on('message', (data) => {
    const { message_id: correlation_id, sender_id: recipient_id } = JSON.parse(data.toString());
    const payload = { status: 'success', data: { over: 'there' } };
    const answer = { ...heading('response'), sender_id: agentId, recipient_id, correlation_id, payload };
    socket.send(JSON.stringify(answer));
  });
  await once(socket, 'open');
  let sent = 0;
  // Until the other node knows of the connection, it reports that the agent is not connected.
  const send = async () => {
    sent += 1;
    const envelope = { request_id: `relayed-${sent}`, method: 'chat.send', agent_ref: { id: agentId }, params: {} };
    return last(await cluster.stream(one, envelope).then(allFrames)).body;
  };
  await expect.poll(send).toMatchObject({ result: { over: 'there' } });
  socket.close();
  await expect.poll(send).toMatchObject({ message: expect.stringContaining('not connected') });
});

describe('a node that is killed', () => {
  test('leaves the question of an execution open, and another takes its answer', async () => {
    const ask = { AskApproval: { title: 'Continue?', outputPath: '/workflow/approval' } };
    const workflow = workflowOf({ ask, wait: { Wait: { duration: 2000 } } }, { id: 'asks-first' });
    const started = await cluster.post(one, '/api/v1/workflows/execute', { workflow });
    const [{ question_id: id } = { question_id: '' }] = started.body['questions'] as { question_id: string }[];
    await one.kill();
    const answer = async () => {
      const path = `/e2a/requests/asks-first/questions/${id}`;
      return (await cluster.post(two, path, { option_id: 'allow' })).status;
    };
    const statuses: number[] = [];
    await expect.poll(async () => statuses.push(await answer()) > 0 && statuses.at(-1)).not.toBe(503);
    expect(statuses.at(-1)).toBe(200);
    // It runs, and the question is over.
    expect(await answer()).toBe(409);
    const read = async () => (await call(two.url, { path: '/api/v1/executions/asks-first', key: cluster.key })).json();
    await expect.poll(read).toMatchObject({ status: 'success', results: { ask: { option_id: 'allow' } } });
    await cluster.startNode(one);
  });
});

describe('a node that stands still', () => {
  test('may still take the answer to a question, so the answer has to be sent again', async () => {
    const asking = { request_id: 'late', method: 'chat.send', agent_ref: { id: 'asker' }, params: { content: {} } };
    const frames = (await cluster.stream(one, asking)).frames();
    await frames.next();
    const { body } = JSON.parse((await frames.next()).value ?? '{}');
    const path = `/e2a/requests/late/questions/${body.id}`;
    const answer = async () => (await cluster.post(two, path, { option_id: 'allow' })).status;
    one.signal('SIGSTOP');
    try {
      expect(await answer()).toBe(503);
      // By now its request has ended.
      await expect.poll(answer).toBe(409);
    } finally {
      one.signal('SIGCONT');
    }
    await expect.poll(async () => (await call(one.url, { path: '/ready' })).status).toBe(200);
  });
});

describe('a node that is stopped', () => {
  test('leaves, and another continues at once what it could not finish', async () => {
    const ready = await call(one.url, { path: '/ready' });
    expect(ready.status).toBe(200);
    const workflow = workflowOf(
      {
        wait: { Wait: { duration: 3000 } },
        order: { ApiCall: { method: 'POST', url: `${api.url}/orders`, body: {}, outputPath: '/workflow/order' } },
      },
      { id: 'moves' },
    );
    api.answers('POST /orders', { id: 1 });
    const headers = { prefer: 'respond-async' };
    const path = '/api/v1/workflows/execute';
    const accepted = await call(one.url, { method: 'POST', path, key: cluster.key, headers, json: { workflow } });
    expect(accepted.status, await accepted.text()).toBe(202);
    expect((await one.stop()).code).toBe(0);
    await expect
      .poll(async () => (await call(two.url, { path: '/api/v1/executions/moves', key: cluster.key })).json())
      .toMatchObject({ status: 'success' });
    expect(api.count('POST /orders')).toBe(1);
    await cluster.startNode(one);
  });
});
