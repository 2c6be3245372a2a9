import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { NETWORK_TRANSPORTS } from '../../packages/server/src/edges/wire-peer.contract.ts';
import { Caller, read } from './caller.ts';
import { agentModule, moduleAgent, System } from './system.ts';
import { WireCaller } from './wire-caller.ts';

const system = await System.start({
  config: {
    agents: { worker: moduleAgent('worker') },
    tools: [agentModule('work-tool'), { name: 'journaled', agent: 'worker', record: 'journal' }],
    wire: { port: 0 },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const ada = await system.caller('ada-agent', { permissions: { agents: ['*'], tools: ['*'] } });
const caller = new Caller(system, ada.api_key);

async function connected(): Promise<WireCaller> {
  const open = NETWORK_TRANSPORTS['tcp'];
  if (open === undefined) throw new Error('there is no TCP');
  const place = { url: system.url, wire: { url: system.wireUrl, socket: undefined } };
  return new WireCaller(await open(place, ada.api_key)).greet(ada.api_key);
}

test('a durable call continues when its connection is lost, and E2A ends it', async () => {
  const id = randomUUID();
  const { hostname, port } = new URL(system.wireUrl);
  const socket = connect(Number(port), hostname);
  for (const message of [
    { type: 'handshake/req', id: 'h', auth_token: ada.api_key },
    { type: 'tool/call/req', id, tool_name: 'work', arguments: { mode: 'hold' }, durable: true },
  ]) {
    socket.write(`${JSON.stringify({ a2e: '1.0', ts: 1, ...message })}\n`);
  }
  await expect.poll(async () => (await caller.get(`${id}/responses`)).status).toBe(200);
  socket.resetAndDestroy();
  await using _ = await connected();
  expect(await (await caller.get(`${id}/responses`)).json()).toMatchObject({ is_final: false });
  expect(await (await caller.cancel(id)).json()).toEqual({ request_id: id, cancelled: true });
  expect(read((await caller.resume(id)).at(-1))).toMatchObject({ body: { code: 'E2A.CANCELLED' } });
});

test('a durable call that is repeated gets the recorded answer; another call under its id is a conflict', async () => {
  const id = randomUUID();
  const answers: JsonObject[] = [];
  for (let time = 0; time < 2; time += 1) {
    await using wire = await connected();
    wire.call('work', { mode: 'work' }, { id, durable: true, streaming: time === 0 });
    answers.push((await wire.answer(id))['data'] as JsonObject);
  }
  const [first, second] = answers;
  expect(first).toMatchObject({ success: true, tool_name: 'work', data: { text: 'Hello world' } });
  expect(second).toEqual({ ...first, duration_ms: expect.any(Number) });
  await using wire = await connected();
  wire.call('work', { mode: 'fail' }, { id, durable: true });
  expect(await wire.answer(id)).toMatchObject({
    type: 'error',
    message: expect.stringContaining('already used with a different body'),
  });
});

test('a durable call that runs out of time ends as one, in the answer and in the journal', async () => {
  const id = randomUUID();
  await using wire = await connected();
  wire.call('work', { mode: 'hold' }, { id, durable: true, timeout: 0.2 });
  expect(await wire.answer(id)).toMatchObject({ type: 'error', code: 'timeout' });
  expect(read((await caller.resume(id)).at(-1))).toMatchObject({ status: 'failed', body: { code: 'E2A.TIMEOUT' } });
});

test('record: journal makes every call of a tool durable; others leave no request', async () => {
  const [journaled, audited] = [randomUUID(), randomUUID()];
  await using wire = await connected();
  wire.call('journaled', { content: 'work' }, { id: journaled });
  expect(await wire.answer(journaled)).toMatchObject({ data: { success: true, data: { text: 'Hello world' } } });
  wire.call('work', { mode: 'work' }, { id: audited });
  expect(await wire.answer(audited)).toMatchObject({ data: { success: true } });
  expect(read((await caller.resume(journaled)).at(-1))).toMatchObject({ is_final: true, status: 'succeeded' });
  expect((await caller.get(`${audited}/responses`)).status).toBe(404);
});
