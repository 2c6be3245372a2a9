import { createClient } from '@dragoman/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

describe('administration of a running server', () => {
  let system: System;
  const as = (key: string) => createClient({ url: system.url, key });
  const admin = () => as(system.adminKey).admin;
  let ada: ReturnType<typeof as>;
  beforeAll(async () => {
    system = await System.start({
      config: {
        default_agent: 'echo',
        agents: { echo: moduleAgent('echo'), held: moduleAgent('held') },
        gate: { callbacks: ['127.0.0.1:9'] },
      },
    });
    ada = as((await system.caller('ada', { permissions: { agents: ['*'] } })).api_key);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test('requests are found by protocol and by text, by their owner and by an administrator', async () => {
    await ada.send('a needle in the hay', { agent: 'echo', requestId: 'by-e2a' }).final();
    await ada.mailbox.send({ from: 'Ada', to: { name: 'echo' }, message: 'hay alone' });
    const found = async (query: object) => (await admin().requests.list(query)).requests;
    expect(await found({ text: 'NEEDLE' })).toMatchObject([{ request_id: 'by-e2a', owner: 'ada', protocol: 'e2a' }]);
    expect(await found({ protocol: 'a2a-mailbox' })).toMatchObject([{ owner: 'ada', protocol: 'a2a-mailbox' }]);
    expect(await found({ protocol: 'a2a-mailbox', text: 'needle' })).toEqual([]);
    expect(await ada.requests({ text: 'hay', limit: 1 })).toMatchObject({
      requests: [{ protocol: 'a2a-mailbox' }],
      total: null,
      next_cursor: expect.any(String),
    });
    const { by_protocol: protocols, by_agent: agents } = await admin().overview();
    expect(protocols).toMatchObject({ e2a: 1, 'a2a-mailbox': 1 });
    expect(agents).toMatchObject([{ agent: 'echo', accepted: 2, failed: 0, running: 0, waiting: 0 }]);
  });

  test("an administrator cancels anybody's request, and gets an error when there is nothing to cancel", async () => {
    const answer = ada.send({ params: {} }, { agent: 'held', requestId: 'long' });
    for await (const _ of answer) break;
    expect((await admin().overview()).by_agent).toContainEqual(expect.objectContaining({ agent: 'held', running: 1 }));
    expect(
      await admin()
        .requests.cancel('long', { agentId: 'somebody' })
        .catch(({ code }) => code),
    ).toBe('not_found');
    expect(await admin().requests.cancel('long')).toEqual({ request_id: 'long', agent_id: 'ada', cancelled: true });
    expect((await ada.resume('long').final()).body).toMatchObject({ code: 'E2A.CANCELLED' });
    expect(await admin().requests.cancel('long')).toMatchObject({ cancelled: false });
    const { by_agent: agents } = await admin().overview();
    expect(agents).toContainEqual({ agent: 'held', health: 'ok', accepted: 1, failed: 1, running: 0, waiting: 0 });
  });

  test('an execution shows its request and its operations, and runs only with the approved plan', async () => {
    const { api_key: key } = await system.caller('eve', { permissions: { operations: ['*'] } });
    const { workflows } = as(key);
    const lines = [
      { type: 'operationUpdate', operationId: 'pause', operation: { Wait: { duration: 1 } } },
      { type: 'beginExecution', executionId: 'planned', operationOrder: ['pause'] },
    ];
    const { plan_hash: planHash } = await workflows.plan(lines);
    const refused = workflows.start(lines, { planHash: 'another' });
    await expect(refused).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining(planHash) });
    await workflows.result(await workflows.start(lines, { planHash }), { everyMs: 20 });
    expect(await workflows.record('planned')).toMatchObject({
      execution_id: 'planned',
      plan_hash: planHash,
      workflow: lines.map((line) => JSON.stringify(line)).join('\n'),
      effects: [{ kind: 'wait', key: expect.stringContaining('pause'), until: expect.any(String) }],
    });
  });

  test('threads are listed for their sender and for their agent', async () => {
    const { api_key: key } = await system.caller('tom', { permissions: { agents: ['*'] } });
    const tom = as(key);
    const metadata = { threadId: 'plans' };
    await tom.mailbox.send({ from: 'Tom', to: { name: 'echo' }, message: 'in a thread', metadata });
    const { threads, next } = await tom.mailbox.threads();
    expect(threads).toMatchObject([{ threadId: 'plans', agent: 'echo', sender: 'tom' }]);
    expect(next).toBeNull();
    expect((await tom.mailbox.threads({ as: 'agent' })).threads).toEqual([]);
    expect((await ada.mailbox.threads()).threads).toEqual([]);
    const answer = await call(system.url, { path: '/a2a/threads?as=nobody', key });
    expect(answer.status).toBe(400);
  });

  test('outbound requests are logged without their paths, and callbacks are given up and sent again by host', async () => {
    const from = { name: 'Ada', callbackUrl: 'https://127.0.0.1:9/answer?token=secret' };
    await ada.mailbox.send({ from, to: { name: 'echo' }, message: 'call me' });
    const { outbox } = admin();
    await expect.poll(async () => (await outbox.list({ state: 'due' })).deliveries[0]?.attempts).toBe(1);
    const [due] = (await outbox.list({ state: 'due' })).deliveries;
    expect(await outbox.get(due?.id ?? '')).toMatchObject({
      body: expect.stringContaining('call me'),
      headers: { 'webhook-signature': '(made at each attempt)' },
    });
    expect(await outbox.giveUp(due?.id ?? '')).toMatchObject({ state: 'dead', next_at: null });
    expect(await outbox.retryHost('127.0.0.1:9')).toEqual({ host: '127.0.0.1:9', retried: 1, complete: true });
    expect(await outbox.retryHost('127.0.0.1')).toMatchObject({ retried: 0 });
    const [entry] = await admin().egress({ outcome: 'failed' });
    expect(entry).toMatchObject({
      caller: 'ada',
      method: 'POST',
      host: '127.0.0.1:9',
      outcome: 'failed',
      status: null,
    });
    expect(JSON.stringify(await admin().egress())).not.toContain('secret');
    const inside = { name: 'Ada', callbackUrl: 'https://10.0.0.7/answer' };
    await expect(ada.mailbox.send({ from: inside, to: { name: 'echo' }, message: 'call there' })).rejects.toThrow();
    expect(await admin().egress({ outcome: 'refused' })).toMatchObject([{ host: '10.0.0.7', method: 'CHECK' }]);
  });

  test('wrong keys are counted by their source address, and never shown', async () => {
    expect((await call(system.url, { path: '/admin/v1/keys', key: 'a-guess' })).status).toBe(401);
    const report = await admin().failedLogins();
    expect(report).toMatchObject({ total: 1, recent: [{ address: '127.0.0.1', count: 1 }] });
    expect(JSON.stringify(report)).not.toContain('a-guess');
    expect((await admin().overview()).failed_logins).toBe(1);
  });
});
