import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

// ListTasks of Linux Foundation A2A.

const system = await System.start({
  config: { default_agent: 'worker', agents: { worker: moduleAgent('worker'), echo: moduleAgent('echo') } },
});
afterAll(() => system[Symbol.asyncDispose]());
const AGENT = '/lf-a2a/agents/worker';

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly timestamp: string };
  readonly artifacts?: unknown;
}
interface Page {
  readonly tasks: Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** Its own caller for each test. */
async function caller() {
  const { api_key: key } = await system.caller(`lister-${randomUUID().slice(0, 8)}`, {
    permissions: { agents: ['*'], operations: ['*'] },
  });
  const post = (path: string, json: object) => call(system.url, { method: 'POST', path, key, json });
  return {
    key,
    async send(text: string, contextId?: string): Promise<Task> {
      const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], contextId };
      const json = (await (await post(`${AGENT}/message:send`, { message })).json()) as { task: Task };
      return json.task;
    },
    async sendAndGo(text: string): Promise<Task> {
      const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
      const answer = await post(`${AGENT}/message:send`, { message, configuration: { returnImmediately: true } });
      return ((await answer.json()) as { task: Task }).task;
    },
    async list(query = '', agent = AGENT): Promise<Page> {
      return (await (await call(system.url, { path: `${agent}/tasks${query}`, key })).json()) as Page;
    },
    async refused(query: string) {
      const answer = await call(system.url, { path: `${AGENT}/tasks${query}`, key });
      return {
        status: answer.status,
        ...((await answer.json()) as { error: { message: string; details: unknown[] } }),
      };
    },
    post,
  };
}

describe('ListTasks', () => {
  test('a listed task is the task that GetTask shows, with its artifacts only on request', async () => {
    const { key, send, list } = await caller();
    const ids = [(await send('work')).id, (await send('fail')).id];
    const shown = await Promise.all(
      ids.map(async (id) => (await call(system.url, { path: `${AGENT}/tasks/${id}`, key })).json() as Promise<Task>),
    );
    expect((await list('?includeArtifacts=true')).tasks).toEqual(shown.toReversed());
    const bare = shown.map(({ artifacts: _, ...task }) => task).toReversed();
    expect((await list()).tasks).toEqual(bare);
    expect((await list('?historyLength=0')).tasks.some((task) => 'history' in task)).toBe(false);
  });

  test('pages follow each other without a gap or a repeat, and the last one has no token', async () => {
    const { send, list } = await caller();
    const sent: string[] = [];
    for (let count = 0; count < 5; count++) sent.unshift((await send('work')).id);
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page: Page = await list(`?pageSize=2&pageToken=${token}`);
      seen.push(...page.tasks.map(({ id }) => id));
      sizes.push(page.tasks.length);
      expect([page.pageSize, page.totalSize]).toEqual([2, 5]);
      token = page.nextPageToken === '' ? undefined : page.nextPageToken;
    }
    expect([seen, sizes]).toEqual([sent, [2, 2, 1]]);
    expect((await list('?pageSize=5')).nextPageToken).toBe('');
  });

  test('context, state and time choose the tasks', async () => {
    const { send, sendAndGo, list, post } = await caller();
    const mine = await send('work', 'my-context');
    const failed = await send('fail');
    const held = await sendAndGo('hold');
    const ids = async (query: string) => (await list(query)).tasks.map(({ id }) => id);
    expect(await ids('?contextId=my-context')).toEqual([mine.id]);
    expect(await ids('?status=TASK_STATE_FAILED')).toEqual([failed.id]);
    expect(await ids('?status=TASK_STATE_INPUT_REQUIRED')).toEqual([]);
    await expect.poll(() => ids('?status=TASK_STATE_WORKING')).toEqual([held.id]);
    expect(await ids(`?statusTimestampAfter=${failed.status.timestamp}`)).toEqual([held.id, failed.id]);
    await post(`${AGENT}/tasks/${held.id}:cancel`, {});
    expect(await ids('?status=TASK_STATE_CANCELED')).toEqual([held.id]);
    const stamps = (await list()).tasks.map(({ status }) => status.timestamp);
    expect(stamps).toEqual(stamps.toSorted().reverse());
  });

  test('no caller sees the tasks of another, and no agent those of another', async () => {
    const ann = await caller();
    const bob = await caller();
    const { id } = await ann.send('work');
    const { nextPageToken } = await ann.list('?pageSize=1');
    expect(nextPageToken).toBe('');
    expect(await bob.list()).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
    expect((await bob.list(`?contextId=${id}`)).tasks).toEqual([]);
    expect((await ann.list('', '/lf-a2a/agents/echo')).tasks).toEqual([]);
    const taken = Buffer.from(`9999999999999 ${id}`).toString('base64url');
    expect((await bob.list(`?pageToken=${taken}`)).tasks).toEqual([]);
  });

  test('an execution that was started elsewhere is not a task of the agent workflows', async () => {
    const { list, post } = await caller();
    const workflow = JSON.stringify({
      type: 'operationUpdate',
      operationId: 'now',
      operation: { GetCurrentDateTime: { timezone: 'UTC', outputPath: '/workflow/now' } },
    });
    const text = `${workflow}\n${JSON.stringify({ type: 'beginExecution', executionId: 'elsewhere', operationOrder: ['now'] })}`;
    const answer = await post('/api/v1/workflows/execute', { workflow: text });
    expect(await answer.json()).toMatchObject({ status: 'success' });
    expect((await list('', '/lf-a2a/agents/workflows')).tasks).toEqual([]);
  });

  test.each([
    ['?pageSize=0', 'pageSize'],
    ['?pageSize=101', 'pageSize'],
    ['?pageSize=many', 'pageSize'],
    ['?pageToken=nonsense', 'pageToken'],
    ['?status=completed', 'status'],
    ['?statusTimestampAfter=yesterday', 'statusTimestampAfter'],
    ['?historyLength=-1', 'historyLength'],
    ['?includeArtifacts=perhaps', 'includeArtifacts'],
  ])('%s is refused, naming the field', async (query, field) => {
    const { refused } = await caller();
    const { status, error } = await refused(query);
    expect(status).toBe(400);
    expect(error.details).toContainEqual(
      expect.objectContaining({ fieldViolations: [expect.objectContaining({ field })] }),
    );
  });
});
