import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { CountingApi } from './counting-api.ts';
import { System } from './system.ts';
import { fresh, WorkflowCaller, workflowOf } from './workflow-caller.ts';

// Guarantees of the design: 1 (durable before acknowledged), 2 (nothing accepted is lost), 4 (effects at most once), 8 (tenancy), 9 (validate and execute agree).

const api = await CountingApi.start();
const system = await System.start({
  config: {
    apis: { counting: { base_url: api.url } },
    gate: { allow: [api.host] },
    workflows: { cache_seconds: 0, max_parallel: 1, timeout_ms: 5000 },
    mailbox: { answer_within_ms: 3000, requests_per_minute: 1000 },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const permissions = { operations: ['*'], apis: ['*'], agents: ['*'], workflows: ['*'] };
const ann = new WorkflowCaller(system, (await system.caller('ann-agent', { permissions })).api_key);
const bob = await system.caller('bob-agent', { permissions: { ...permissions, operations: ['AskApproval'] } });
const eve = await system.caller('eve-approver', { permissions: { operations: ['questions.answer'] } });
api.answers('GET /plan', { release: 'v7' });
api.answers('POST /before', { prepared: true });
api.answers('POST /deploy', { deployed: true });
beforeEach(() => {
  api.requests.length = 0;
});

const post = (path: string) => ({
  ApiCall: {
    method: 'POST',
    url: `${api.url}${path}`,
    body: { approval: { path: '/workflow/approval' } },
    outputPath: `/workflow${path}`,
  },
});
const approval = (more: JsonObject = {}) => ({
  AskApproval: { title: 'Deploy {/workflow/plan.release}?', outputPath: '/workflow/approval', ...more },
});
const deploying = (id: string, more: JsonObject = {}) =>
  workflowOf(
    {
      plan: { ApiCall: { method: 'GET', url: `${api.url}/plan`, outputPath: '/workflow/plan' } },
      before: {
        ApiCall: { method: 'POST', url: `${api.url}/before`, body: {}, outputPath: '/workflow/before' },
      },
      ask: approval(more),
      deploy: post('/deploy'),
    },
    { id },
  );

const openTo = async (key: string) => {
  const listed = await call(system.url, { path: '/e2a/questions?state=open', key });
  return ((await listed.json()) as { questions: JsonObject[] }).questions;
};
async function questionOf(id: string): Promise<JsonObject> {
  const mine = async () => (await openTo(ann.key)).find((one) => one['request_id'] === id);
  await expect.poll(mine).toBeDefined();
  return (await mine()) as JsonObject;
}
const answer = (id: string, question: JsonObject, json: JsonObject, key = ann.key) =>
  call(system.url, { method: 'POST', path: `/e2a/requests/${id}/questions/${question['question_id']}`, key, json });
const begin = (workflow: string) => ann.post('execute', { workflow }, { headers: { prefer: 'respond-async' } });
const count = (path: string) => api.requests.filter((one) => one.path === path).length;
const ended = async (id: string) => {
  const read = async () => (await ann.get(`executions/${id}`)).json;
  await expect.poll(async () => (await read())['status']).not.toBe('running');
  return read();
};

describe('AskApproval', () => {
  test('parks the execution; the answer is the value at its path, and what was done before is not done again', async () => {
    const id = fresh();
    const waiting = await ann.post('execute', { workflow: deploying(id) });
    expect(waiting.status).toBe(202);
    expect(await waiting.json()).toMatchObject({
      execution_id: id,
      status: 'running',
      results: { plan: { release: 'v7' } },
      questions: [{ title: 'Deploy v7?' }],
    });
    const question = await questionOf(id);
    expect(question).toMatchObject({
      kind: 'permission',
      agent_id: 'workflows',
      options: [{ id: 'allow' }, { id: 'reject' }],
    });
    // It takes no place: another one runs, though there is place for one.
    expect(
      await ann.execute(workflowOf({ now: { GetCurrentDateTime: { outputPath: '/workflow/now' } } })),
    ).toMatchObject({
      status: 'success',
    });
    expect((await answer(id, question, { option_id: 'allow' })).status).toBe(200);
    const result = await ended(id);
    expect(result).toMatchObject({
      status: 'success',
      results: { ask: { option_id: 'allow', by: 'ann-agent' }, deploy: { deployed: true } },
    });
    expect([count('/plan'), count('/before'), count('/deploy')]).toEqual([1, 1, 1]);
    expect(JSON.parse(api.requests.at(-1)?.body ?? '')).toMatchObject({ approval: { option_id: 'allow' } });
    expect((await answer(id, question, { option_id: 'allow' })).status).toBe(409);
  });

  test('kill -9 while it waits: the question is open after the restart, and no effect is repeated', async () => {
    const id = fresh();
    await begin(deploying(id));
    const question = await questionOf(id);
    await system.kill();
    await system.start();
    expect(await questionOf(id)).toEqual(question);
    await answer(id, question, { option_id: 'allow' });
    expect(await ended(id)).toMatchObject({ status: 'success' });
    expect([count('/plan'), count('/before'), count('/deploy')]).toEqual([1, 1, 1]);
    const events = await ann.call({ path: `/api/v1/executions/${id}/events` });
    const kinds = (await events.text()).match(/^event: (.*)$/gm);
    expect(kinds?.filter((kind) => kind.includes('question'))).toEqual([
      'event: question-asked',
      'event: question-resolved',
    ]);
  });

  test('a stop while it waits takes no time, and its answer counts after the next start', async () => {
    const id = fresh();
    await begin(deploying(id));
    const question = await questionOf(id);
    const from = Date.now();
    await system.stop();
    expect(Date.now() - from).toBeLessThan(4000);
    await system.start();
    await questionOf(id);
    await answer(id, question, { option_id: 'allow' });
    expect(await ended(id)).toMatchObject({ status: 'success' });
  });

  test('a question whose answer is recorded when the server is killed is not asked again', async () => {
    const id = fresh();
    let release = () => {};
    api.behaviours.set('POST /deploy', (_, response) => {
      release = () => response.end('{"deployed":true}');
    });
    await begin(deploying(id));
    await answer(id, await questionOf(id), { option_id: 'allow' });
    await expect.poll(() => count('/deploy')).toBe(1);
    await system.kill();
    release();
    api.answers('POST /deploy', { deployed: true });
    await system.start();
    // A POST that was under way has an unknown outcome: it is not made again.
    expect(await ended(id)).toMatchObject({ status: 'partial_success', results: { ask: { option_id: 'allow' } } });
    expect(count('/deploy')).toBe(1);
  });

  test.each([
    ['a rejection', { option_id: 'reject' }, '"Deploy v7?" was rejected by ann-agent (reject).'],
    ['a declined question', { action: 'decline' }, '"Deploy v7?" was rejected by ann-agent (decline).'],
  ])('%s is an error, and nothing after it runs', async (_, given, message) => {
    const id = fresh();
    await begin(deploying(id));
    await answer(id, await questionOf(id), given);
    expect(await ended(id)).toMatchObject({ status: 'partial_success', error: { message, operationId: 'ask' } });
    expect(count('/deploy')).toBe(0);
  });

  test('no answer in time is an error', async () => {
    const id = fresh();
    await begin(deploying(id, { expires: 1000 }));
    expect(await ended(id)).toMatchObject({
      status: 'partial_success',
      error: { message: '"Deploy v7?" was not answered in time, so it counts as rejected.' },
    });
    expect(count('/deploy')).toBe(0);
  });

  test('the time limit of the execution does not count while it waits', async () => {
    const id = fresh();
    await ann.post('execute', { workflow: deploying(id), timeout_ms: 1500 });
    const question = await questionOf(id);
    await new Promise((resolve) => setTimeout(resolve, 1800));
    await answer(id, question, { option_id: 'allow' });
    expect(await ended(id)).toMatchObject({ status: 'success' });
  });

  test('a choice continues with the chosen option, a form with its values', async () => {
    const [chosen, filled] = [fresh(), fresh()];
    await begin(
      deploying(chosen, {
        options: [
          { id: 'eu', name: 'Europe' },
          { id: 'us', name: 'America' },
        ],
      }),
    );
    await answer(chosen, await questionOf(chosen), { text: 'America' });
    expect(await ended(chosen)).toMatchObject({ status: 'success', results: { ask: { option_id: 'us' } } });
    const schema = { type: 'object', properties: { reason: { type: 'string' } }, required: ['reason'] };
    await begin(deploying(filled, { schema }));
    const question = await questionOf(filled);
    expect((await answer(filled, question, { content: {} })).status).toBe(400);
    await answer(filled, question, { content: { reason: 'fixed' } });
    expect(await ended(filled)).toMatchObject({ results: { ask: { content: { reason: 'fixed' } } } });
  });

  test('inside a loop each item has its own question', async () => {
    const id = fresh();
    api.answers('GET /list', { items: ['a', 'b'] });
    const workflow = workflowOf(
      {
        list: { ApiCall: { method: 'GET', url: `${api.url}/list`, outputPath: '/workflow/list' } },
        each: { Loop: { inputPath: '/workflow/list.items', operations: ['ask'], outputPath: '/workflow/each' } },
        ask: { AskApproval: { title: 'Take {/loop/item}?', outputPath: '/workflow/taken' } },
      },
      { id, order: ['list', 'each'] },
    );
    await begin(workflow);
    for (const item of ['a', 'b']) {
      await expect.poll(async () => (await openTo(ann.key))[0]?.['title']).toBe(`Take ${item}?`);
      await answer(id, await questionOf(id), { option_id: 'allow' });
    }
    expect(await ended(id)).toMatchObject({ status: 'success' });
  });

  test('cancelling withdraws the question, with a frame that reports it', async () => {
    const id = fresh();
    await begin(deploying(id));
    await questionOf(id);
    const cancelled = await ann.call({ method: 'POST', path: `/api/v1/executions/${id}/cancel` });
    expect(await cancelled.json()).toMatchObject({ cancelled: true, status: 'cancelled' });
    expect(await openTo(ann.key)).toEqual([]);
    const frames = await call(system.url, {
      path: `/e2a/requests/${id}/responses`,
      key: ann.key,
      headers: { accept: 'application/x-ndjson' },
    });
    const lines = (await frames.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
    expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, index) => index));
    expect(JSON.stringify(lines.map(({ body }) => body))).toContain('"state":"withdrawn"');
    expect(count('/deploy')).toBe(0);
  });

  test('another caller does not see it; an approver answers it', async () => {
    const id = fresh();
    await begin(deploying(id));
    const question = await questionOf(id);
    expect(await openTo(bob.api_key)).toEqual([]);
    expect((await answer(id, question, { option_id: 'allow' }, bob.api_key)).status).toBe(404);
    expect((await answer(id, question, { option_id: 'allow' }, eve.api_key)).status).toBe(200);
    expect(await ended(id)).toMatchObject({ results: { ask: { by: 'eve-approver' } } });
  });

  test('a message to the mailbox starts it, and a reply to its question lets it continue', async () => {
    const workflow = deploying(fresh());
    const mail = (content: JsonObject | string, metadata: JsonObject) =>
      call(system.url, {
        method: 'POST',
        path: '/a2a',
        key: ann.key,
        json: {
          from: 'ann',
          to: 'workflows',
          message: { contentType: typeof content === 'string' ? 'text/plain' : 'application/json', content },
          metadata,
        },
      });
    const posted = await mail({ workflow }, { messageId: 'mail-1', threadId: 'deploys' });
    const question = (await posted.json()) as JsonObject & { metadata: JsonObject };
    expect(question).toMatchObject({ replyTo: 'mail-1', metadata: { status: 'input_required' } });
    await mail('allow', { threadId: 'deploys', replyTo: question['messageId'] ?? null });
    const final = async () => (await call(system.url, { path: '/a2a/messages/mail-1', key: ann.key })).text();
    await expect.poll(final).toContain('"deployed":true');
  });

  test('is known to plan and validate, and a wrong one is reported with its fix', async () => {
    const planned = (await (await ann.post('plan', { workflow: deploying(fresh()) })).json()) as {
      steps: JsonObject[];
    };
    expect(planned.steps[2]).toMatchObject({ operationId: 'ask', type: 'AskApproval', writes: ['/workflow/approval'] });
    const schema = { type: 'object', properties: {} };
    const wrong = await ann.validate(deploying(fresh(), { options: [{ id: 'a', name: 'A' }], schema, expires: '90d' }));
    expect(JSON.stringify(wrong)).toContain('AskApproval must have either options or schema, not both');
    expect(JSON.stringify(wrong)).toContain('expires must be at most 30d');
  });
});
