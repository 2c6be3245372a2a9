import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { DialledAgent } from './dialled-agent.ts';
import { System } from './system.ts';

const system = await System.start({
  config: {
    agents: { away: { driver: 'e2a-ws' } },
    mailbox: { anonymous: ['away'], answer_within_ms: 200, requests_per_minute: 10_000, hold_seconds: 60 },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const mine = await system.caller('my-agent', { permissions: { agents: ['*'] } });
const away = await system.caller('away', { permissions: { agents: [] } });

async function post(messageId: string, { key, metadata = {} }: { key?: string; metadata?: JsonObject } = {}) {
  const json = {
    version: '0.3.0',
    from: { name: 'my-agent' },
    to: { name: 'away' },
    message: { contentType: 'text/plain', content: `mail ${messageId}` },
    messageId,
    metadata,
  };
  const answer = await call(system.url, { method: 'POST', path: '/a2a', json, ...(key !== undefined && { key }) });
  return { status: answer.status, text: await answer.text() };
}

async function answerTo(messageId: string): Promise<string> {
  return (await call(system.url, { method: 'GET', path: `/a2a/messages/${messageId}`, key: mine.api_key })).text();
}

test('mail for an agent that is not connected waits, through a restart, and is answered when the agent connects', async () => {
  const acknowledged = await post('letter-00000001', { key: mine.api_key });
  expect(acknowledged).toMatchObject({ status: 200, text: expect.stringContaining('received') });
  await system.kill();
  await system.start();
  expect(await answerTo('letter-00000001')).toContain('received');
  const agent = await DialledAgent.dial(system.url, away.api_key);
  await expect.poll(() => agent.received.length).toBe(1);
  expect(agent.received[0]).toMatchObject({ params: { content: 'mail letter-00000001' } });
  agent.complete(agent.received[0]?.request_id ?? '', { text: 'here now' });
  await expect.poll(() => answerTo('letter-00000001')).toContain('here now');
  agent.close();
});

test('mail is answered as expired at its expiresAt where the agent never connects', async () => {
  const expiresAt = new Date(Date.now() + 700).toISOString();
  await post('letter-00000002', { key: mine.api_key, metadata: { expiresAt } });
  expect(await answerTo('letter-00000002')).toContain('received');
  await expect.poll(() => answerTo('letter-00000002')).toContain('expired');
});

test('a sender without a key and a callback gets an immediate error when the agent is not connected', async () => {
  const { text } = await post('letter-00000003');
  expect(text).toContain('not connected');
});
