import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { Caller, read } from './caller.ts';
import { CountingApi } from './counting-api.ts';
import { System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

// A request to the target `workflows` is joined to its execution again after a restart, over every protocol.

const api = await CountingApi.start();
const get = (path: string) => ({
  ApiCall: { method: 'GET', url: `${api.url}/${path}`, outputPath: `/workflow/${path}` },
});
const RELEASE = workflowOf({
  plan: get('plan'),
  ask: { AskApproval: { title: 'Release {/workflow/plan.name}?', outputPath: '/workflow/approval' } },
  slow: get('slow'),
});
const system = await System.start({
  config: {
    gate: { allow: [api.host] },
    apis: { counting: { base_url: api.url } },
    workflows: { cache_seconds: 0 },
    mailbox: { answer_within_ms: 500, requests_per_minute: 1000 },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const all = ['*'];
const { api_key: key } = await system.caller('ann-agent', {
  permissions: { operations: all, apis: all, agents: all, workflows: all },
});
const caller = new Caller(system, key);
const stored = (workflow: string) =>
  call(system.url, { method: 'PUT', path: '/admin/v1/workflows/release', key: system.adminKey, json: { workflow } });
await stored(RELEASE);
const held = () => api.behaviours.set('GET /slow', () => {});
const released = () => api.answers('GET /slow', { done: true });
beforeEach(() => {
  api.requests.length = 0;
  api.answers('GET /plan', { name: 'v7' });
  held();
});

interface Listed extends JsonObject {
  readonly question_id: string;
}
async function questionOf(id: string): Promise<Listed> {
  let found: Listed | undefined;
  await expect
    .poll(
      async () => {
        const listed = (await (await call(system.url, { path: '/e2a/questions', key })).json()) as {
          questions: Listed[];
        };
        found = listed.questions.find((one) => one['request_id'] === id);
        return found;
      },
      { timeout: 30_000 },
    )
    .toBeDefined();
  return found as Listed;
}
const allow = async (id: string) => {
  const path = `/e2a/requests/${id}/questions/${(await questionOf(id)).question_id}`;
  const answered = await call(system.url, { method: 'POST', path, key, json: { option_id: 'allow' } });
  expect(answered.status).toBe(200);
};
const slow = (times: number) => expect.poll(() => api.count('GET /slow'), { timeout: 30_000 }).toBe(times);
const killed = async () => {
  await system.kill();
  await system.start();
};

/** What each frame reports, and that they are numbered without a gap or a repeat. */
function reports(frames: readonly string[]): string[] {
  const parsed = frames.map(read);
  expect(parsed.map(({ sequence }) => sequence)).toEqual(parsed.map((_, at) => at));
  expect(parsed.map(({ is_final }) => is_final)).toEqual(parsed.map((_, at) => at === parsed.length - 1));
  return parsed.map(({ response_kind: kind, body }) => {
    const { delta = {} } = body as { delta?: JsonObject };
    const { event, tool, event_type: type } = delta as JsonObject;
    return kind === 'e2a.chunk' ? [type ?? event, tool].filter(Boolean).join(' ') : kind;
  });
}
const WHOLE = [
  'operation-started plan',
  'operation-finished plan',
  'operation-started ask',
  'acp.output_request',
  'question.resolved',
  'operation-finished ask',
  'operation-started slow',
  'operation-finished slow',
  'e2a.complete',
];
const envelope = (id: string, more: JsonObject = {}) => ({
  request_id: id,
  agent_ref: { id: 'workflows' },
  method: 'release',
  is_stream: true,
  ...more,
});

describe('kill -9 in the middle of a request to a stored workflow', () => {
  test('an E2A stream continues behind the frames that were read: while it asks, and while it works', async () => {
    const id = randomUUID();
    const stream = await caller.post(envelope(id), { accept: 'application/x-ndjson' });
    const seen: string[] = [];
    for await (const frame of stream.frames()) {
      seen.push(frame);
      if (read(frame).response_kind === 'acp.output_request') break;
    }
    const question = await questionOf(id);
    await killed();
    expect(await questionOf(id)).toEqual(question);
    await allow(id);
    await slow(1);
    await killed();
    await slow(2);
    const before = (await caller.resumeNow(id)) as unknown[];
    released();
    await killed();
    const rest = await caller.resume(id, seen.length - 1);
    expect(reports([...seen, ...rest])).toEqual(WHOLE);
    expect(await caller.resume(id)).toEqual([...seen, ...rest]);
    expect(rest.map((text) => JSON.parse(text)).slice(0, before.length - seen.length)).toEqual(
      before.slice(seen.length),
    );
    expect(api.count('GET /plan')).toBe(1);
  });

  test('a caller that waits for one frame gets the result, even if the workflow has changed in the meantime', async () => {
    const id = randomUUID();
    const broken = caller.post(envelope(id, { is_stream: false })).catch(() => undefined);
    await questionOf(id);
    await stored(workflowOf({ other: get('plan') }));
    await killed();
    await broken;
    released();
    await allow(id);
    const again = caller.post(envelope(id, { is_stream: false }));
    expect(await (await again).json()).toMatchObject({
      sequence: 0,
      is_final: true,
      response_kind: 'e2a.complete',
      body: { result: { status: 'success', results: { ask: { option_id: 'allow' }, slow: { done: true } } } },
    });
    await stored(RELEASE);
  });

  test('a task of Linux Foundation A2A asks again, and ends with the result', async () => {
    const rpc = async (method: string, params: JsonObject) => {
      const json = { jsonrpc: '2.0', id: 1, method, params };
      const answer = await call(system.url, { method: 'POST', path: '/lf-a2a/agents/workflows', key, json });
      return ((await answer.json()) as { result: { task: Task } }).result;
    };
    const message = (parts: JsonObject[], more: JsonObject = {}) => ({
      message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more },
    });
    const { task } = await rpc('SendMessage', message([{ data: { name: 'release', inputs: {} } }]));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await killed();
    await questionOf(task.id);
    released();
    const { task: done } = await rpc('SendMessage', message([{ text: 'allow' }], { taskId: task.id }));
    expect(done).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(JSON.stringify(done.artifacts)).toContain('"done":true');
  });

  test('a mailbox reply answers the question after the restart, and the thread has the result', async () => {
    const post = async (content: JsonObject | string, metadata: JsonObject, more: JsonObject = {}) => {
      const json = {
        version: '0.3.0',
        from: { name: 'ann-agent' },
        message: { contentType: typeof content === 'string' ? 'text/plain' : 'application/json', content },
        metadata: { messageId: randomUUID(), ...metadata },
        ...more,
      };
      const answer = await call(system.url, { method: 'POST', path: '/a2a', key, json });
      return (await answer.json()) as { messageId: string };
    };
    const [threadId, messageId] = [randomUUID(), randomUUID()];
    const question = await post({ name: 'release', inputs: {} }, { threadId, messageId }, { to: 'workflows' });
    expect(question).toMatchObject({ metadata: { status: 'input_required' } });
    await killed();
    await questionOf(messageId);
    released();
    await post('allow', { threadId, replyTo: question.messageId });
    const thread = async () => {
      const listed = await call(system.url, { path: `/a2a/threads/${threadId}`, key });
      return ((await listed.json()) as { messages: JsonObject[] }).messages;
    };
    await expect
      .poll(async () => (await thread()).filter((one) => one['replyTo'] === messageId), { timeout: 30_000 })
      .toMatchObject([
        { metadata: { status: 'input_required' } },
        { metadata: { status: 'success' }, message: { content: { status: 'success' } } },
      ]);
  });
});

describe('a stop', () => {
  test.each([
    ['while it asks', false],
    ['while it works', true],
  ])('%s leaves the request to the next start', async (_, isWorking) => {
    const id = randomUUID();
    const stream = await caller.post(envelope(id), { accept: 'application/x-ndjson' });
    const reading = (async () => {
      const seen: string[] = [];
      try {
        for await (const frame of stream.frames()) seen.push(frame);
      } catch {
        // The server ended it.
      }
      return seen;
    })();
    if (isWorking) {
      await allow(id);
      await slow(1);
    } else await questionOf(id);
    expect(await system.stop()).toMatchObject({ code: 0 });
    const seen = await reading;
    released();
    await system.start();
    if (!isWorking) await allow(id);
    expect(reports([...seen, ...(await caller.resume(id, seen.length - 1))])).toEqual(WHOLE);
  });

  test('and a cancel after the restart ends both', async () => {
    const id = randomUUID();
    await caller.post(envelope(id), { accept: 'application/x-ndjson' });
    await questionOf(id);
    await killed();
    await questionOf(id);
    expect((await caller.cancel(id)).status).toBe(200);
    const frames = await caller.resume(id);
    expect(read(frames.at(-1) ?? '').body).toMatchObject({ code: 'E2A.CANCELLED' });
    const executions = await call(system.url, { path: '/api/v1/executions?status=running', key });
    expect(await executions.json()).toMatchObject({ executions: [] });
  });
});

interface Task {
  readonly id: string;
  readonly status: { readonly state: string };
  readonly artifacts?: unknown;
}
