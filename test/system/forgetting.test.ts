import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { CountingApi, send } from './counting-api.ts';
import { agentModule, System } from './system.ts';
import { fresh, WorkflowCaller, workflowOf } from './workflow-caller.ts';

const ACP_PROGRAM = fileURLToPath(new URL('../../packages/core/src/agents/fixtures/acp-program.mjs', import.meta.url));
const CANARY = 'canary-93ab';
const api = await CountingApi.start();
const held: (() => void)[] = [];
api.answers('GET /data', [{ name: CANARY }]);
api.behaviours.set('GET /held', (_, response) => {
  held.push(() => send(response, 200, { ok: true }));
});
const system = await System.start({
  config: {
    apis: { counting: { base_url: api.url } },
    gate: { allow: [api.host] },
    workflows: { cache_seconds: 0 },
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      coder: { driver: 'acp', command: process.execPath, args: [ACP_PROGRAM] },
    },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});
const PERMISSIONS = { permissions: { operations: ['*'], apis: ['*'], agents: ['*'] } };
const ann = new WorkflowCaller(system, (await system.caller('ann-agent', PERMISSIONS)).api_key);
const bob = new WorkflowCaller(system, (await system.caller('bob-agent', PERMISSIONS)).api_key);
const admin = (method: string, path: string) =>
  call(system.url, { method, path: `/admin/v1/${path}`, key: system.adminKey });

const get = (path: string, outputPath: string): JsonObject => ({
  ApiCall: { method: 'GET', url: `${api.url}${path}`, outputPath },
});
const store = (storage: string): JsonObject => ({ StoreData: { inputPath: '/workflow/data', storage, key: storage } });
const everything = (id: string) =>
  workflowOf({ data: get('/data', '/workflow/data'), keep: store('localStorage'), file: store('file') }, { id });

test('an agent forgets an execution of its own that has ended, and after kill -9 it is gone', async () => {
  const [id, running] = [fresh(), fresh()];
  await ann.execute(everything(id));
  await ann.post('execute', { workflow: workflowOf({ wait: get('/held', '/workflow/x') }, { id: running }) }, ASYNC);
  expect((await bob.call({ method: 'DELETE', path: `/api/v1/executions/${id}` })).status).toBe(404);
  const busy = await ann.call({ method: 'DELETE', path: `/api/v1/executions/${running}` });
  expect([busy.status, await busy.text()]).toEqual([409, expect.stringContaining('cancel it first')]);
  const gone = await ann.call({ method: 'DELETE', path: `/api/v1/executions/${id}` });
  expect([gone.status, await gone.json()]).toEqual([200, { execution_id: id, removed: true }]);
  await system.kill();
  await system.start();
  expect((await ann.get(`executions/${id}`)).status).toBe(404);
  expect((await ann.get(`executions/${id}/events`)).status).toBe(404);
  await ann.post('execute', { workflow: everything(id) });
  expect((await ann.get(`executions/${id}`)).status).toBe(200);
});

test('an operator forgets a message of the mailbox, and no thread has it any more', async () => {
  const carl = new WorkflowCaller(system, (await system.caller('carl-agent', PERMISSIONS)).api_key);
  const word = `${CANARY}-letter`;
  const post = (messageId: string, message: string) =>
    carl.call({
      method: 'POST',
      path: '/a2a',
      json: { from: 'Ann', to: 'echo', message, metadata: { messageId, threadId: 'th' } },
    });
  await post('letter-1', word);
  await post('letter-2', 'and on');
  const thread = async () => (await carl.call({ path: '/a2a/threads/th' })).text();
  expect(await thread()).toContain(word);
  expect(await placesWith(word)).not.toEqual([]);
  expect((await admin('DELETE', 'requests/letter-1?agent_id=carl-agent')).status).toBe(200);
  expect(await thread()).not.toContain(word);
  expect(await thread()).toContain('letter-2');
  expect((await admin('DELETE', 'requests/letter-1?agent_id=carl-agent')).status).toBe(404);
  expect(await placesWith(word)).toEqual([]);
});

test('an operator deletes one request or execution, and must name the owner where several have the id', async () => {
  const id = fresh();
  for (const caller of [ann, bob]) await caller.execute(everything(id));
  const unclear = await admin('DELETE', `requests/${id}`);
  expect([unclear.status, await unclear.text()]).toEqual([409, expect.stringContaining('?agent_id=bob-agent')]);
  expect((await admin('DELETE', `requests/${id}?agent_id=bob-agent`)).status).toBe(200);
  expect([(await ann.get(`executions/${id}`)).status, (await bob.get(`executions/${id}`)).status]).toEqual([200, 404]);
  const envelope = { request_id: 'words', method: 'chat.send', params: { content: CANARY } };
  await ann.call({ method: 'POST', path: '/e2a/agents/echo', json: envelope });
  expect((await admin('DELETE', 'requests/words')).status).toBe(200);
  expect((await ann.call({ path: '/e2a/requests/words/responses' })).status).toBe(404);
  expect((await admin('DELETE', 'requests/words')).status).toBe(404);
});

test("everything of an agent goes, from every file and table; what is under way is counted, and others' stays", async () => {
  for (const caller of [ann, bob]) {
    await caller.execute(everything(fresh()));
    const chat = { method: 'chat.send', session_id: 's', params: { content: CANARY } };
    await caller.call({ method: 'POST', path: '/e2a/agents/echo', json: { request_id: fresh(), ...chat } });
  }
  const running = fresh();
  await ann.post('execute', { workflow: workflowOf({ wait: get('/held', '/workflow/x') }, { id: running }) }, ASYNC);
  await until(() => held.length > 0);
  const first = (await (await admin('DELETE', 'agents/ann-agent/data')).json()) as JsonObject;
  expect(first).toMatchObject({ agent_id: 'ann-agent', forgotten: { requests: 1, sessions: 1, stored_keys: 2 } });
  expect(first['under_way']).toBeGreaterThan(0);
  for (const answer of held.splice(0)) answer();
  await ann.ended(running);
  expect(((await ann.get('executions')).json['executions'] as unknown[]).length).toBeLessThan(3);
  expect(((await bob.get('executions')).json['executions'] as unknown[]).length).toBeGreaterThan(0);
  await admin('DELETE', 'agents/bob-agent/data');
  await admin('DELETE', 'agents/ann-agent/data');
  expect(system.log).toContain('the records of an agent were deleted');
  expect(await admin('DELETE', 'agents/nobody-here/data')).toMatchObject({ status: 404 });
  expect(await placesWith(CANARY)).toEqual([]);
});

test('with everything of an agent go the folders of its ACP sessions, and no others', async () => {
  const folderOf = async (caller: WorkflowCaller) => {
    const chat = { request_id: fresh(), method: 'chat.send', session_id: 's', params: { content: 'where' } };
    const answer = await caller.call({ method: 'POST', path: '/e2a/agents/coder', json: chat });
    return /"text":"[^"\\]*\\"([^"\\]+)\\"/.exec(await answer.text())?.[1] ?? '';
  };
  const [anns, bobs] = [await folderOf(ann), await folderOf(bob)];
  expect([existsSync(anns), existsSync(bobs)]).toEqual([true, true]);
  await admin('DELETE', 'agents/ann-agent/data');
  expect([existsSync(anns), existsSync(bobs)]).toEqual([false, true]);
});

/** Every file of the data folder, and every table of PostgreSQL, that has the word in it while the server runs. */
async function placesWith(word: string): Promise<string[]> {
  return [...(await system.kept())].flatMap(([place, bytes]) => (bytes.includes(word) ? [place] : []));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const ASYNC = { headers: { prefer: 'respond-async' } };
