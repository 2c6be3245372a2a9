import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { startPostgres } from '../../packages/core/test-support/postgres-server.ts';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

// The real server on a real PostgreSQL: every protocol of the hub, a killed server, and a killed database (guarantees 1, 2 and 4).

const postgres = await startPostgres({ isDurable: true });
const environment = { DRAGOMAN_VAULT_KEY: randomBytes(32).toString('hex') };
const system = System.create({
  config: { store: postgres.url('dragoman'), default_agent: 'echo', agents: { echo: moduleAgent('echo') } },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await postgres.stop();
});
await system.start(environment);
const { api_key: key } = await system.caller('postgres-agent', {
  permissions: { agents: ['*'], operations: ['*'], tools: ['*'] },
});

async function post(path: string, json: unknown): Promise<unknown> {
  const answer = await call(system.url, { method: 'POST', path, key, json });
  return { status: answer.status, body: await answer.json() };
}

async function framesOf(requestId: string): Promise<string[]> {
  const path = `/e2a/requests/${requestId}/responses?after=-1`;
  const answer = await call(system.url, { path, key, accept: 'application/x-ndjson' });
  expect(answer.status).toBe(200);
  return (await answer.text()).trim().split('\n');
}

const e2a = (requestId: string) => ({
  request_id: requestId,
  method: 'chat.send',
  params: { content: 'hello there' },
  is_stream: true,
});

const WORKFLOW = [
  { type: 'operationUpdate', operationId: 'now', operation: { GetCurrentDateTime: { outputPath: '/workflow/now' } } },
  { type: 'beginExecution', executionId: 'on-postgres', operationOrder: ['now'] },
];

test('requests of E2A, the mailbox, workflows and OpenAI are answered', async () => {
  expect(await post('/e2a', e2a('first'))).toMatchObject({ status: 200 });
  expect(await post('/a2a', { from: 'Ada', message: 'Hi', metadata: { threadId: 'lunch' } })).toMatchObject({
    status: 200,
    body: { metadata: { status: 'success' } },
  });
  expect(
    await post('/api/v1/workflows/execute', { workflow: WORKFLOW.map((line) => JSON.stringify(line)).join('\n') }),
  ).toMatchObject({ status: 200, body: { status: 'success' } });
  expect(
    await post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hello' }] }),
  ).toMatchObject({ status: 200, body: { object: 'chat.completion' } });
});

test('after kill -9 of the server every answer, thread and execution is there, and the key still works', async () => {
  const before = await framesOf('first');
  expect(before.length).toBeGreaterThan(1);
  await system.kill();
  await system.start(environment);
  expect(await framesOf('first')).toEqual(before);
  const thread = await call(system.url, { path: '/a2a/threads/lunch', key });
  expect(await thread.json()).toMatchObject({ messages: [{ sequence: 1 }, { sequence: 2 }] });
  const execution = await call(system.url, { path: '/api/v1/executions/on-postgres', key });
  expect(await execution.json()).toMatchObject({ status: 'success' });
});

test('after kill -9 of PostgreSQL the server answers again by itself', async () => {
  const before = await framesOf('first');
  await postgres.kill();
  await postgres.start();
  expect(await framesOf('first')).toEqual(before);
  expect(await post('/e2a', e2a('second'))).toMatchObject({ status: 200 });
  expect((await framesOf('second')).length).toBe(before.length);
});
