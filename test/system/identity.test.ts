import { afterAll, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

const system = await System.start({ config: { default_agent: 'echo', agents: { echo: moduleAgent('echo') } } });
afterAll(() => system[Symbol.asyncDispose]());
const plain = await system.caller('plain-agent');
const gateway = await system.caller('gateway-agent', {
  permissions: { agents: ['*'], operations: ['identity.user', 'identity.system'] },
});

test.each([{ user_id: 'u_001' }, { identity_origin: 'system' }])(
  'a request with %o needs the permission to speak in that name',
  async (claim) => {
    const json = { method: 'chat.send', params: { content: 'hello' }, ...claim };
    const sent = async (key: string) => (await call(system.url, { method: 'POST', path: '/e2a', key, json })).status;
    expect([await sent(plain.api_key), await sent(gateway.api_key)]).toEqual([403, 200]);
  },
);

test('a caller may name itself as the user', async () => {
  const json = { method: 'chat.send', params: { content: 'hello' }, user_id: 'plain-agent' };
  const answer = await call(system.url, { method: 'POST', path: '/e2a', key: plain.api_key, json });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ user_id: 'plain-agent' });
});
