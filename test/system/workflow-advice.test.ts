import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CountingApi } from './counting-api.ts';
import { System } from './system.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

const api = await CountingApi.start();
const system = await System.start({
  config: {
    apis: { shop: { base_url: api.url } },
    gate: { allow: [api.host] },
    workflows: { max_answer_bytes: 1000 },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const everything = { permissions: { operations: ['*'], apis: ['*'] } };
const ann = new WorkflowCaller(system, (await system.caller('ann-agent', everything)).api_key);

const get = (url: string) => ({ get: { ApiCall: { method: 'GET', url, outputPath: '/workflow/x' } } });

api.behaviours.set('GET /never', () => {});
api.answers('GET /long', 'x'.repeat(2000));
api.behaviours.set('GET /broken', (_, response) => {
  response.setHeader('content-type', 'application/json').end('{"a":');
});

test.each([
  ['out of time', `${api.url}/never`, { timeout_ms: 300 }, /timeout_ms/, 'execution'],
  ['an answer that is too large', `${api.url}/long`, {}, /fewer|less/, 'api_error'],
  ['an answer that is not JSON despite its type', `${api.url}/broken`, {}, /Accept/, 'data_error'],
  ['a host the gate does not let out', 'http://127.0.0.1:1/', {}, /127\.0\.0\.1:1 to gate\.allow/, 'authorization'],
] as const)('%s reports the fix, and its category', async (_, url, options, fix, category) => {
  const { error } = await ann.execute(workflowOf(get(url)), options);
  expect(error).toMatchObject({ operationId: 'get', category });
  expect(error?.suggestions?.join('; ')).toMatch(fix);
});

test.each([
  ['timeout_ms', { timeout_ms: 0 }],
  ['onError', { onError: 'never' }],
  ['level', { level: 'loose' }],
])('an invalid %s is reported with the fix', async (name, options) => {
  const answer = await ann.post('execute', { workflow: workflowOf(get(`${api.url}/long`)), ...options });
  expect(answer.status).toBe(400);
  expect(suggestionsIn((await answer.json()) as JsonObject)).toContain(name);
});

test.each([
  ['executions?limit=0', /limit/],
  ['executions?limit=5000', /1000/],
  ['executions?status=sucess', /success/],
  ['executions?status=x', /status/],
  ['executions?cursor=x', /cursor/],
  ['executions/nobodys', /GET \/api\/v1\/executions/],
])('%s is reported with the fix', async (path, fix) => {
  const { status, json } = await ann.get(path);
  expect([400, 404]).toContain(status);
  expect(suggestionsIn(json)).toMatch(fix);
});

test('a problem of a line is reported for its operation, by execute and by plan', async () => {
  const workflow = workflowOf({ pause: { Wait: { duration: 'long' } } });
  for (const name of ['execute', 'plan'] as const) {
    const { error } = (await (await ann.post(name, { workflow })).json()) as { error: JsonObject };
    expect(error).toMatchObject({ type: 'ValidationError', category: 'validation', operationId: 'pause' });
  }
});

function suggestionsIn({ error }: JsonObject): string {
  return ((error as JsonObject)['suggestions'] as string[] | undefined)?.join('; ') ?? '';
}
