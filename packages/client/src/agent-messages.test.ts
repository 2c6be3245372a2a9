import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { realServer } from '../test-support/real-server.ts';
import { createClient } from './client.ts';

/** A real server that knows an agent by a key and by what it signs. */
async function setUp() {
  const { url, admin } = await realServer();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { api_key: key = '' } = await admin.admin.agents.put({
    agent_id: 'asking-agent',
    permissions: { agents: ['*'] },
    public_key: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  });
  const agentWith = (privateKey: KeyObject) =>
    createClient({ url }).agent({ agentId: 'asking-agent', sign: (bytes) => sign(null, bytes, privateKey) });
  return {
    agent: createClient({ url, key }).agent({ agentId: 'asking-agent' }),
    signing: agentWith(privateKey),
    agentWith,
  };
}

test('an agent is found and called with a key', async () => {
  const { agent } = await setUp();
  const { agents, total } = await agent.discover();
  expect(total).toBe(agents.length);
  expect(await agent.request(agents[0]?.agent_id ?? '', 'chat.send', { content: 'by key' })).toBeDefined();
  await expect(agent.request('nobody-here', 'any')).rejects.toMatchObject({
    code: 'AGENT_NOT_REGISTERED',
    status: 404,
  });
});

test('a signature alone is enough', async () => {
  const { signing, agentWith } = await setUp();
  expect((await signing.discover({ maxResults: 1 })).agents).toHaveLength(1);
  const impostor = agentWith(generateKeyPairSync('ed25519').privateKey);
  await expect(impostor.discover()).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED' });
});

test('an agent registers, beats and goes', async () => {
  const { agent } = await setUp();
  const card = {
    agent_id: 'asking-agent',
    name: 'Asks',
    version: '1.0.0',
    description: '',
    capabilities: ['ask_much'],
  };
  const whole = { ...card, supported_protocols: ['A2A/1.0'] };
  expect(await agent.register(whole, 'https://asks.example.com/a2a')).toMatchObject({ status: 'registered' });
  expect((await agent.discover({ capabilities: ['ask_much'] })).total).toBe(1);
  expect(await agent.heartbeat()).toMatchObject({ timestamp: expect.any(String) });
  await agent.unregister();
  expect((await agent.discover({ capabilities: ['ask_much'] })).total).toBe(0);
});

test('a page of a proxy is reported as one', async () => {
  const page = new Response('<h1>Bad Gateway</h1>', { status: 502, headers: { 'Content-Type': 'text/html' } });
  const agent = createClient({ url: 'http://proxy.test', key: 'dgm_x', fetch: async () => page }).agent({
    agentId: 'a',
  });
  await expect(agent.request('echo', 'say')).rejects.toMatchObject({ code: 'unexpected_answer', status: 502 });
});
