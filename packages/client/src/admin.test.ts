import { expect, test } from 'vitest';
import type { AgentDefinition as ServersDefinition } from '../../core/src/registry/definition.ts';
import { impatient, realServer } from '../test-support/real-server.ts';
import type { AgentDefinition } from './admin.ts';

// The client may not use the server's types, so that they are the same is checked here, by the compiler.
const sameShape = (ours: Required<AgentDefinition>): Required<ServersDefinition> => ours;
const sameShapeBack = (theirs: Required<ServersDefinition>): Required<AgentDefinition> => theirs;

test('an agent is made, replaced, read, listed and removed', async () => {
  const { admin } = await realServer();
  const { agents } = admin.admin;
  const definition: AgentDefinition = { agent_id: 'ada', permissions: { agents: ['echo'] } };
  const made = await agents.put(definition);
  expect(made).toMatchObject({ ...definition, api_key: expect.any(String), role: 'agent' });
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

test('the client knows an agent as the server does', () => {
  expect(sameShape).not.toBe(sameShapeBack);
});

test('a request is explained, and one that is not on record is not found', async () => {
  const { admin, client } = await realServer();
  const answer = client.send('what became of this?');
  await answer.final();
  const told = await admin.admin.requests.explain(answer.requestId);
  expect(told).toMatchObject({ kind: 'request', agent_id: 'caller', received: { dialect: 'e2a' } });
  expect(JSON.parse(told.received.text ?? '')).toMatchObject({ params: { content: 'what became of this?' } });
  const explain = (id: string, agentId?: string) => admin.admin.requests.explain(id, { agentId });
  await expect(explain(answer.requestId, 'nobody')).rejects.toMatchObject({ code: 'not_found', status: 404 });
  await expect(explain('a/b?c')).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.admin.requests.explain(answer.requestId)).rejects.toMatchObject({ code: 'forbidden' });
});
