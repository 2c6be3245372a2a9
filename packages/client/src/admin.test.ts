import { expect, test } from 'vitest';
import type { ApiDefinition } from '../../core/src/apis/definition.ts';
import type { AgentBody } from '../../core/src/callers/definition.ts';
import { impatient, realServer } from '../test-support/real-server.ts';
import type { AgentDefinition } from './admin.ts';
import type { ApiInput } from './api-admin.ts';
import type { KnowledgeBaseInput } from './knowledge-admin.ts';

// The client may not use the server's types, so that they are the same is checked here, by the compiler.
const sameShape = (ours: Required<AgentDefinition>): Required<AgentBody> => ours;
const sameShapeBack = (theirs: Required<AgentBody>): Required<AgentDefinition> => theirs;
const sameMember = (theirs: keyof ApiDefinition): keyof ApiInput => theirs;

test('an agent is made, replaced, read, listed and removed', async () => {
  const { admin } = await realServer();
  const { agents } = admin.admin;
  const definition: AgentDefinition = { agent_id: 'ada', permissions: { agents: ['echo'] } };
  const made = await agents.put(definition);
  expect(made).toMatchObject({ ...definition, api_key: expect.any(String), role: 'agent' });
  expect(made.webhook_secret).toMatch(/^whsec_/);
  const replaced = await agents.put({ ...definition, permissions: { agents: [] } });
  expect(replaced.api_key).toBeUndefined();
  expect(await agents.get('ada')).toEqual({ agent_id: 'ada', permissions: { agents: [] } });
  const list = await agents.list();
  expect(list.agents.map(({ agent_id }) => agent_id).toSorted()).toEqual(['ada', 'caller']);
  expect(list.targets).toContain('echo');
  expect(await agents.remove('ada')).toEqual({ agent_id: 'ada', removed: true });
  await expect(agents.get('ada')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('a definition that is wrong is refused with every issue', async () => {
  const { admin } = await realServer();
  const wrong = { agent_id: 'a_b', permissions: {}, max_parallel: 0 };
  await expect(admin.admin.agents.put(wrong)).rejects.toMatchObject({
    code: 'invalid_message',
    issues: [{ pointer: '/agent_id' }, { pointer: '/max_parallel' }],
  });
});

test('a key is made, listed without its secret, and revoked', async () => {
  const { admin, url } = await realServer();
  const { keys } = admin.admin;
  const made = await keys.create({ agent_id: 'caller', description: 'a second one' });
  const second = impatient({ url, key: made.api_key });
  expect(await second.send('with the second key').text()).toBe('with the second key');
  const listed = (await keys.list()).find(({ key_id }) => key_id === made.key_id);
  expect(listed).toMatchObject({ agent_id: 'caller', role: 'agent', description: 'a second one', revoked_at: null });
  expect(JSON.stringify(listed)).not.toContain(made.api_key);
  expect(await keys.revoke(made.key_id)).toEqual({ key_id: made.key_id, revoked: true });
  await expect(second.send('again').final()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a revoked key ends an open stream, for good', async () => {
  const { admin, url } = await realServer();
  const { api_key: key, key_id } = await admin.admin.keys.create({ agent_id: 'caller' });
  const reading = (async () => {
    for await (const _ of impatient({ url, key }).send('go', { agent: 'forever' }))
      await admin.admin.keys.revoke(key_id);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
});

test("administration is refused to an agent's key", async () => {
  const { client } = await realServer();
  await expect(client.admin.keys.list()).rejects.toMatchObject({ code: 'forbidden', status: 403 });
});

test('the client knows an agent and an API as the server does', () => {
  expect(sameShape).not.toBe(sameShapeBack);
  expect(sameMember('accepts_data_from')).toBe('accepts_data_from');
});

test('an API is made, read, listed and removed', async () => {
  const { apis } = (await realServer()).admin.admin;
  const api: ApiInput = { base_url: 'https://crm.example', accepts_data_from: ['shop.example'] };
  const kept = { id: 'crm', ...api, description: null, endpoints: [], from: 'admin' };
  expect(await apis.put('crm', api)).toEqual(kept);
  expect(await apis.get('crm')).toEqual(kept);
  expect(await apis.list()).toEqual([kept]);
  expect(await apis.remove('crm')).toEqual({ id: 'crm', removed: true });
  await expect(apis.get('crm')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('a workflow is stored, read in each version, listed and removed', async () => {
  const { admin, client } = await realServer();
  const { workflows } = admin.admin;
  const lines = (duration: number) => [
    { type: 'operationUpdate', operationId: 'rest', operation: { Wait: { duration } } },
    { type: 'beginExecution', executionId: 'e', operationOrder: ['rest'] },
  ];
  const stored = await workflows.put('rest', lines(1), { description: 'rests' });
  expect(stored).toMatchObject({ name: 'rest', description: 'rests', version: 1, from: 'admin' });
  expect(await workflows.put('rest', lines(1), { description: 'rests' })).toEqual(stored);
  expect(await workflows.put('rest', lines(2))).toMatchObject({ version: 2 });
  const { versions, workflow } = await workflows.get('rest', { version: 1 });
  expect(versions.map(({ version }) => version)).toEqual([2, 1]);
  expect(workflow).toContain('"duration":1');
  expect((await workflows.get('rest')).workflow).toContain('"duration":2');
  expect(await workflows.list()).toMatchObject([{ name: 'rest', version: 2 }]);
  expect(Array.isArray(await client.workflows.stored())).toBe(true);
  expect(await workflows.remove('rest')).toEqual({ name: 'rest', removed: true });
  await expect(workflows.get('rest')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('a knowledge base is made, read, listed, shortened and removed', async () => {
  const { knowledge } = (await realServer()).admin.admin;
  const documents = [
    { id: 'returns', title: 'Returns', text: 'Goods are taken back for thirty days.' },
    { id: 'shipping', text: 'By ship.', metadata: { page: 4 } },
  ];
  const base: KnowledgeBaseInput = { agents: ['*'], documents };
  const summary = { id: 'rules', description: null, agents: ['*'], documents: 2 };
  expect(await knowledge.put('rules', base)).toEqual(summary);
  expect(await knowledge.list()).toEqual([summary]);
  expect(await knowledge.get('rules')).toMatchObject({ id: 'rules', ...base });
  expect(await knowledge.removeDocument('rules', 'shipping')).toEqual({ id: 'shipping', removed: true });
  expect(await knowledge.list()).toEqual([{ ...summary, documents: 1 }]);
  expect(await knowledge.remove('rules')).toEqual({ id: 'rules', removed: true });
  await expect(knowledge.get('rules')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('the records of one request, or of an agent, are deleted; running requests stay', async () => {
  const { admin, client } = await realServer();
  const { agents, requests } = admin.admin;
  const [first, second] = [client.send('forget me'), client.send('and me')];
  await Promise.all([first.final(), second.final()]);
  const gone = { request_id: first.requestId, agent_id: 'caller', removed: true };
  expect(await requests.forget(first.requestId, { agentId: 'caller' })).toEqual(gone);
  await expect(requests.explain(first.requestId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(requests.forget(first.requestId)).rejects.toMatchObject({ code: 'not_found', status: 404 });
  const running = client.send('go', { agent: 'forever' });
  for await (const _ of running) break;
  await expect(requests.forget(running.requestId)).rejects.toMatchObject({ code: 'conflict', status: 409 });
  expect(await agents.forget('caller')).toMatchObject({
    agent_id: 'caller',
    forgotten: { requests: 1, executions: 0, stored_keys: 0 },
    under_way: 1,
  });
  await expect(requests.explain(second.requestId)).rejects.toMatchObject({ code: 'not_found' });
  expect((await agents.get('caller')).agent_id).toBe('caller');
  await expect(agents.forget('nobody')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('a request is explained, and one that is not on record is not found', async () => {
  const { admin, client } = await realServer();
  const answer = client.send('what became of this?');
  await answer.final();
  const explained = await admin.admin.requests.explain(answer.requestId);
  expect(explained).toMatchObject({ kind: 'request', agent_id: 'caller', received: { dialect: 'e2a' } });
  expect(JSON.parse(explained.received.text ?? '')).toMatchObject({ params: { content: 'what became of this?' } });
  const explain = (id: string, agentId?: string) => admin.admin.requests.explain(id, { agentId });
  await expect(explain(answer.requestId, 'nobody')).rejects.toMatchObject({ code: 'not_found', status: 404 });
  await expect(explain('a/b?c')).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.admin.requests.explain(answer.requestId)).rejects.toMatchObject({ code: 'forbidden' });
});
