import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CARD } from '../system/a2a-peer.ts';
import { call, type HttpAnswer } from '../system/call.ts';
import { agentModule, System } from '../system/system.ts';

const module = agentModule('letters');
const agents = {
  open: { driver: 'module' as const, module },
  closed: { driver: 'module' as const, module, agentId: `eip155:8453:0x${'b'.repeat(40)}:2`, skills: ['count'] },
};
const TOOLS = { tools_agent: 'tools' };
const UNLISTED = {
  error: 'Unauthorized',
  message: 'Authentication required. Send a key, or ask the operator to list this agent in mailbox.anonymous.',
  timestamp: expect.any(String),
};

describe('a server without mailbox.anonymous', async () => {
  const system = await System.start({ config: { agents, default_agent: 'open' } });
  afterAll(() => system[Symbol.asyncDispose]());

  test('refuses every message without a key, and names the setting that allows it', async () => {
    for (const to of [undefined, 'open', 'nobody']) {
      const refused = await post(system, { from: 'Eve', message: 'hi', ...(to !== undefined && { to }) });
      expect([refused.status, await refused.json()]).toEqual([401, UNLISTED]);
    }
    const read = await call(system.url, { path: '/a2a/messages/msg_1' });
    expect([read.status, await read.json()]).toEqual([401, UNLISTED]);
  });

  test('answers callers with a key', async () => {
    const { api_key: key } = await system.caller('ada');
    expect((await post(system, { from: 'Ada', message: 'hi' }, key)).status).toBe(200);
    expect((await post(system, { from: 'Operator', message: 'hi' }, system.adminKey)).status).toBe(200);
  });
});

describe('a server that lists an agent in mailbox.anonymous', async () => {
  const system = await System.start({
    config: { agents, default_agent: 'closed', mailbox: { anonymous: ['open', 'foreign', 'tools'] }, messages: TOOLS },
  });
  afterAll(() => system[Symbol.asyncDispose]());
  const { api_key: key } = await system.caller('ada');

  test('marks the sender as anonymous for the agent, and for no other', async () => {
    const report = { from: 'Eve', to: 'open', message: { content: { report: true } } };
    const envelopeOf = async (answer: HttpAnswer) =>
      ((await answer.json()) as { message: { content: { envelope: JsonObject } } }).message.content.envelope;
    expect(await envelopeOf(await post(system, report))).toMatchObject({
      source_agent_id: null,
      channel_context: { anonymous: true, from: { name: 'Eve' } },
    });
    const keyed = await envelopeOf(await post(system, report, key));
    expect(keyed).toMatchObject({ source_agent_id: 'ada' });
    expect(keyed['channel_context']).not.toHaveProperty('anonymous');
  });

  test.each([
    ['an agent that is not listed, by id', { to: 'closed' }],
    ['an agent that is not listed, by agentId', { to: { agentId: agents.closed.agentId } }],
    ['the default agent, which is not listed', {}],
    ['an agent that is not listed, by task type', { metadata: { taskType: 'count' } }],
    ['an agent that does not exist', { to: 'nobody' }],
    ['a listed id that stands for the tools', { to: 'tools' }],
    ['every agent', { to: '*' }],
  ])('does not let a sender without a key reach %s', async (_name, fields) => {
    const refused = await post(system, { from: 'Eve', message: 'hi', ...fields });
    expect([refused.status, await refused.json()]).toEqual([401, UNLISTED]);
  });

  test('does not let a sender without a key reach an agent that registered itself under a listed id', async () => {
    // That name does not resolve here: a caller with a key gets as far as the lookup.
    const json = { agent_card: { ...CARD, agent_id: 'foreign' }, endpoint: 'https://agents.example.com/a2a/messages' };
    const registered = await call(system.url, { method: 'POST', path: '/agents/register', key, json });
    expect(registered.status).toBe(201);
    const refused = await post(system, { from: 'Eve', to: 'foreign', message: 'hi' });
    expect([refused.status, await refused.json()]).toEqual([401, UNLISTED]);
    expect((await post(system, { from: 'Ada', to: 'foreign', message: 'hi' }, key)).status).not.toBe(401);
    const { agents: listed } = (await (await call(system.url, { path: '/agent' })).json()) as { agents: JsonObject[] };
    expect(listed.map(({ id }) => id)).toEqual(['open']);
  });
});

describe('messages of senders without a key on the disk', () => {
  const LIMIT = 65_536;
  const mailbox = { anonymous: ['open'], anonymous_bytes: LIMIT, requests_per_minute: 1_000_000 };
  const find = (system: System, id: string, key?: string) =>
    call(system.url, { path: `/a2a/messages/${id}`, ...(key !== undefined && { key }) });

  test('is bounded over restarts, the oldest goes first, and callers with a key lose nothing', async () => {
    await using system = await System.start({ config: { agents, mailbox } });
    const { api_key: key } = await system.caller('ada');
    const sendMessage = (messageId: string, key?: string) =>
      post(system, { from: 'Eve', to: 'open', message: 'x'.repeat(2000), metadata: { messageId } }, key);
    expect((await sendMessage('msg_keyed', key)).status).toBe(200);
    for (let number = 0; number < 30; number += 1) expect((await sendMessage(`msg_${number}`)).status).toBe(200);
    await system.kill();
    await system.start();
    for (let number = 30; number < 60; number += 1) expect((await sendMessage(`msg_${number}`)).status).toBe(200);
    const kept: number[] = [];
    for (let number = 0; number < 60; number += 1) {
      if ((await find(system, `msg_${number}`)).status === 200) kept.push(number);
    }
    // Each is stored as received, as an envelope, and as its answer: more than six thousand bytes.
    expect(kept.length).toBeGreaterThan(3);
    expect(kept.length).toBeLessThanOrEqual(LIMIT / 6000);
    expect(kept).toEqual(Array.from(kept, (_, index) => 60 - kept.length + index));
    expect((await find(system, 'msg_keyed', key)).status).toBe(200);
  });

  test('is gone sooner than what callers with a key leave', async () => {
    await using system = System.create({
      needsFolder: 'PostgreSQL has its own clock, which no test sets',
      config: { agents, mailbox },
    });
    const clock = join(system.folder, 'clock');
    writeFileSync(clock, '0');
    await system.start({ DRAGOMAN_TEST_CLOCK: clock });
    const { api_key: key } = await system.caller('ada');
    const sendMessage = (messageId: string, key?: string) =>
      post(system, { from: 'Eve', to: 'open', message: 'hi', metadata: { messageId } }, key);
    expect([(await sendMessage('msg_open')).status, (await sendMessage('msg_keyed', key)).status]).toEqual([200, 200]);
    await system.stop();
    writeFileSync(clock, String(7 * 3_600_000));
    await system.start({ DRAGOMAN_TEST_CLOCK: clock });
    // The next message arrives after everything was counted.
    expect((await sendMessage('msg_later')).status).toBe(200);
    expect((await find(system, 'msg_open')).status).toBe(404);
    expect((await find(system, 'msg_keyed', key)).status).toBe(200);
  });

  test('has little metadata', async () => {
    await using system = await System.start({ config: { agents, mailbox } });
    const { api_key: key } = await system.caller('ada');
    const sendMessage = (length: number, key?: string) =>
      post(system, { from: 'Eve', to: 'open', message: 'hi', metadata: { note: 'x'.repeat(length) } }, key);
    expect((await sendMessage(3500)).status).toBe(200);
    const refused = await sendMessage(4096);
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { error: 'Message too large', message: 'The metadata of a message without a key must not exceed 4096 bytes.' },
    ]);
    expect((await sendMessage(4096, key)).status).toBe(200);
  });
});

describe('starting on an address of the network', () => {
  test.each([
    { anonymous: ['open'], agents: ['open'], isReachable: true },
    { anonymous: [], agents: [], isReachable: false },
  ])('logs what is reachable without a key: $anonymous', async ({ anonymous, agents: listed, isReachable }) => {
    await using system = await System.start({ config: { host: '0.0.0.0', agents, mailbox: { anonymous } } });
    const line = reachableIn(system.log);
    expect(line).toMatchObject({ level: 40, agents: listed });
    expect(line?.endpoints).toEqual(expect.arrayContaining(['GET /health', 'GET /metrics', 'GET /agent']));
    expect(line?.endpoints.includes('POST /a2a')).toBe(isReachable);
    expect(line?.endpoints).not.toContain('POST /a2a/messages');
    expect(line?.endpoints.filter((endpoint) => endpoint.includes('/admin/') || endpoint.includes('/e2a'))).toEqual([]);
  });

  test('a server on this machine alone logs nothing of it', async () => {
    await using system = await System.start({ config: { agents, mailbox: { anonymous: ['open'] } } });
    expect(reachableIn(system.log)).toBeUndefined();
  });
});

function reachableIn(log: string): { endpoints: string[]; agents: string[] } | undefined {
  const lines = log.split('\n').filter((line) => line.includes('Reachable without a key'));
  return lines[0] === undefined ? undefined : JSON.parse(lines[0]);
}

function post({ url }: System, json: JsonObject, key?: string): Promise<HttpAnswer> {
  return call(url, { method: 'POST', path: '/a2a', json, ...(key !== undefined && { key }) });
}
