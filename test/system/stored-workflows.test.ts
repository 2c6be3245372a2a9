import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { Caller, read } from './caller.ts';
import { agentModule, moduleAgent, System } from './system.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

// Workflows that administration stores under a name: kept, listed, run, and stopped when they run in circles.

const GREET = fileURLToPath(new URL('./agents/greet.jsonl', import.meta.url));
const system = await System.start({
  config: {
    agents: { circling: moduleAgent('circling') },
    tools: [agentModule('work-tool')],
    workflows: { stored: { greet: { file: GREET, description: 'greets' } } },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const all = ['*'];
const ada = await system.caller('ada-agent', {
  permissions: { agents: all, tools: all, workflows: all, operations: all },
});
const bob = await system.caller('bob-agent', { permissions: { workflows: ['rest'], operations: all } });

const rest = (duration: Json) => workflowOf({ rest: { Wait: { duration } } });
const running = (...names: readonly string[]) =>
  workflowOf(
    Object.fromEntries(names.map((name) => [name, { RunWorkflow: { name, outputPath: `/workflow/${name}` } }])),
  );

async function admin(method: string, name: string, json?: JsonObject): Promise<{ status: number; json: JsonObject }> {
  const path = `/admin/v1/workflows${name === '' ? '' : `/${name}`}`;
  const answer = await call(system.url, { method, path, key: system.adminKey, ...(json !== undefined && { json }) });
  return { status: answer.status, json: (await answer.json()) as JsonObject };
}

async function run(key: string, agent: string, method: string, params: JsonObject) {
  const envelope = { request_id: randomUUID(), method, params, agent_ref: { id: agent } };
  const answer = await new Caller(system, key).post(envelope, { accept: 'application/x-ndjson' });
  return read((await answer.text()).trim().split('\n').at(-1) ?? '');
}

test('a stored workflow is kept in versions, listed for its callers, run, and there after a restart', async () => {
  const workflow = rest('{{ms}}');
  expect(await admin('PUT', 'rest', { workflow, description: 'rests' })).toMatchObject({
    status: 201,
    json: { name: 'rest', version: 1, plan_hash: expect.any(String), from: 'admin' },
  });
  expect(await admin('PUT', 'rest', { workflow, description: 'rests' })).toMatchObject({
    status: 200,
    json: { version: 1 },
  });
  const lines = rest('{{wait}}')
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  expect(await admin('PUT', 'rest', { workflow: lines })).toMatchObject({ status: 200, json: { version: 2 } });
  await system.kill();
  await system.start();
  const { json } = await admin('GET', 'rest');
  expect(json).toMatchObject({ version: 2, versions: [{ version: 2 }, { version: 1, description: 'rests' }] });
  expect(json['workflow']).toContain('{{wait}}');
  expect((await admin('GET', 'rest?version=1')).json).toMatchObject({ version: 1, workflow });
  expect((await new WorkflowCaller(system, bob.api_key).get('workflows')).json).toEqual({
    workflows: [{ name: 'rest', description: '', version: 2, inputs: expect.objectContaining({ required: ['wait'] }) }],
  });
  expect(await run(bob.api_key, 'workflows', 'rest', { wait: 1 })).toMatchObject({ response_kind: 'e2a.complete' });
  expect(await admin('DELETE', 'rest')).toMatchObject({ status: 200, json: { removed: true } });
  expect((await admin('GET', 'rest')).status).toBe(404);
  expect(await run(bob.api_key, 'workflows', 'rest', { wait: 1 })).toMatchObject({ body: { code: 'E2A.NOT_FOUND' } });
});

test('its plan hash is the one that planning reports', async () => {
  const workflow = rest(5);
  const { json } = await admin('PUT', 'hashed', { workflow });
  const planned = await new WorkflowCaller(system, ada.api_key).post('plan', { workflow });
  expect(await planned.json()).toMatchObject({ plan_hash: json['plan_hash'] });
});

test('a workflow of the configuration cannot be changed by administration', async () => {
  const conflict = { status: 409, json: { detail: expect.stringContaining('in the configuration file') } };
  expect(await admin('PUT', 'greet', { workflow: rest(1) })).toMatchObject(conflict);
  expect(await admin('DELETE', 'greet')).toMatchObject(conflict);
  expect(await admin('GET', 'greet')).toMatchObject({ status: 200, json: { from: 'config', versions: [] } });
});

test('a workflow that no caller could run, or that closes a circle, is refused with its issues', async () => {
  expect(await admin('PUT', 'wrong', { workflow: workflowOf({ a: { Wiat: {} } }) })).toMatchObject({
    status: 400,
    json: { issues: [{ pointer: '/workflow', message: expect.stringContaining('"Wiat" is not an operation') }] },
  });
  await admin('PUT', 'left', { workflow: running('right') });
  expect(await admin('PUT', 'right', { workflow: running('greet', 'left') })).toMatchObject({
    status: 400,
    json: { issues: [{ code: 'cycle', message: expect.stringContaining('left → right → left') }] },
  });
});

test('a workflow that runs an unknown stored workflow is not valid until that is stored', async () => {
  const caller = new WorkflowCaller(system, ada.api_key);
  const workflow = running('later');
  expect(await caller.validate(workflow)).toMatchObject({ valid: false, errors: [{ code: 'workflow_unknown' }] });
  await admin('PUT', 'later', { workflow: rest(1) });
  expect(await caller.validate(workflow)).toMatchObject({ valid: true });
  await admin('DELETE', 'later');
  expect(await caller.validate(workflow)).toMatchObject({ valid: false });
});

test.each([
  ['an ad hoc workflow', 'workflow.execute', { workflow: running('spin').split('\n')[0] ?? '' }],
  ['a tool', 'spin', {}],
])('a stored workflow that runs itself through %s is stopped by the hop limit', async (_, tool, args) => {
  const spin = { CallTool: { tool, arguments: args, outputPath: '/workflow/out' } };
  expect((await admin('PUT', 'spin', { workflow: workflowOf({ spin }) })).status).toBeLessThan(300);
  // Without its own execution id, each ad hoc workflow is another execution.
  const final = await run(ada.api_key, 'workflows', 'spin', {});
  expect(final).toMatchObject({ response_kind: 'e2a.error' });
  expect(JSON.stringify(final.body)).toContain('more than 8 levels deep');
});

test('an agent that calls itself through a workflow is stopped by the hop limit', async () => {
  await run(ada.api_key, 'circling', 'chat.send', { content: 'start' });
  // Two hops each time: from the agent to the workflow, and from the workflow to the agent.
  expect(await run(ada.api_key, 'circling', 'chat.send', { content: 'count' })).toMatchObject({
    body: { result: { calls: 5 } },
  });
});
