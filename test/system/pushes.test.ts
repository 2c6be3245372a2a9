import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { Caller, fresh } from './caller.ts';
import { DialledAgent } from './dialled-agent.ts';
import type { SocketClient } from './socket-client.ts';
import { System } from './system.ts';

const dialled = { driver: 'e2a-ws' } as const;
const system = await System.start({ config: { default_agent: 'desk', agents: { desk: dialled, secret: dialled } } });
afterAll(() => system[Symbol.asyncDispose]());
const permissions = { agents: ['desk', 'secret'] };
const agentKey = (await system.caller('desk')).api_key;
const secretKey = (await system.caller('secret')).api_key;
const ada = new Caller(system, (await system.caller('ada', { permissions })).api_key);
const bob = new Caller(system, (await system.caller('bob', { permissions: { agents: ['desk'] } })).api_key);

let agent: DialledAgent;
let adas: SocketClient;
let bobs: SocketClient;
beforeEach(async () => {
  agent = await DialledAgent.dial(system.url, agentKey);
  [adas, bobs] = [await ada.socket(), await bob.socket()];
});
afterEach(() => {
  for (const connection of [agent, adas, bobs]) connection.close();
});

describe('a message that an agent sends by itself', () => {
  test('reaches the owner of the session it names, on all its connections, in order, and no one else', async () => {
    await converse(adas, 'of-ada');
    const second = await ada.socket();
    for (let number = 0; number < 100; number++) agent.push({ number }, { session_id: 'of-ada' });
    for (const socket of [adas, second]) {
      const received = await pushes(socket, 100);
      expect(received.map(({ body }) => (body as { delta: { number: number } }).delta.number)).toEqual([
        ...Array(100).keys(),
      ]);
      expect(received[0]).toMatchObject({
        session_id: 'of-ada',
        sequence: 0,
        response_kind: 'e2a.chunk',
        source_agent_id: 'desk',
        metadata: { _jiuwenswarm_server_push: true },
      });
    }
    second.close();
    expect(await hearsNothing(bobs)).toBe(true);
  });

  test('reaches the sender of the request it names, under the id of the sender, and is not part of the answer', async () => {
    const id = fresh();
    // The same id at the same time: the agent sees two.
    const answers = [adas, bobs].map((socket) => socket.ask({ request_id: id, method: 'chat.send', is_stream: true }));
    for (const answer of answers) answer.catch(() => {});
    await expect.poll(() => agent.received.length).toBe(2);
    for (const { request_id, source_agent_id } of agent.received) {
      agent.push({ for: source_agent_id ?? null }, { request_id });
      agent.complete(request_id, {});
    }
    for (const answer of answers) expect(await answer).toHaveLength(2);
    for (const answer of answers) {
      const [push, final] = (await answer).map((text) => JSON.parse(text));
      expect([push.metadata, final.is_final]).toEqual([{ _jiuwenswarm_server_push: true }, true]);
    }
    expect((await answers[0])?.[0]).toContain('"for":"ada"');
    expect((await answers[1])?.[0]).toContain('"for":"bob"');
  });

  test('about a session id that two callers have chosen reaches neither', async () => {
    await converse(adas, 'shared');
    await converse(bobs, 'shared');
    agent.push({ secret: true }, { session_id: 'shared' });
    expect(await hearsNothing(adas)).toBe(true);
    expect(await hearsNothing(bobs)).toBe(true);
  });

  test.each([{}, { session_id: 'never-was' }, { request_id: 'never-was' }, { session_id: null }])(
    'that names no recipient, %j, reaches no one',
    async (name) => {
      agent.push({}, name);
      expect(await hearsNothing(adas)).toBe(true);
    },
  );

  test("about another agent's session reaches no one", async () => {
    const other = await DialledAgent.dial(system.url, secretKey);
    await converse(adas, 'of-desk');
    other.push({}, { session_id: 'of-desk' });
    expect(await hearsNothing(adas)).toBe(true);
    other.close();
  });

  test('is not kept for a peer that does not read (300 MB of it), and delays no one', async () => {
    await converse(adas, 'slow-reader');
    adas.webSocket.pause();
    const text = 'x'.repeat(100_000);
    const flood = async (count: number) => {
      for (let number = 0; number < count; number++) agent.push({ text }, { session_id: 'slow-reader' });
      await converse(bobs, 'quick-reader');
      return system.residentBytes;
    };
    // How much garbage lies about differs from one Node to the next. It is there by now; what is kept would add to it.
    const before = await flood(1500);
    expect((await flood(3000)) - before).toBeLessThan(150 * 1024 * 1024);
    expect(system.log).toContain('misses pushes');
    adas.webSocket.resume();
  });
});

describe('a frame that is too large, of an agent that dialled in', () => {
  test('ends the request it answers, and no other', async () => {
    const [large, small] = await askTwice();
    agent.complete(large.id, { text: 'x'.repeat(9 * 1024 * 1024) });
    expect(await large.message()).toContain('expected at most 8388608 bytes in a frame; got more');
    agent.complete(small.id, { text: 'all' });
    expect((await small.final()).body).toEqual({ result: { text: 'all' } });
  });

  test('and has no end in sight ends the connection, and every reader gets the reason', async () => {
    const pair = await askTwice();
    agent.complete(pair[0].id, { text: 'x'.repeat(65 * 1024 * 1024) });
    for (const request of pair) {
      expect(await request.message()).toContain('it sent more than 67108864 bytes in one frame');
    }
  });
});

test('a server that stops waits for the answers of an agent that dialled in', async () => {
  const answer = adas.ask({ request_id: fresh(), method: 'chat.send', is_stream: true });
  await expect.poll(() => agent.received.length).toBe(1);
  const id = agent.received[0]?.request_id ?? '';
  system.signal('SIGTERM');
  await delay(200);
  agent.send({ request_id: id, response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'late' } });
  agent.complete(id, { text: 'all' });
  const frames = (await answer).map((frame) => JSON.parse(frame));
  expect(frames).toMatchObject([{ body: { delta: 'late' } }, { body: { result: { text: 'all' } } }]);
  expect(await agent.closed).toBe(1001);
  expect(await system.exited).toEqual({ code: 0, signal: null });
});

/** Two requests that the agent has received, by its ids. */
async function askTwice() {
  const pair = [fresh(), fresh()].map((id) => adas.ask({ request_id: id, method: 'chat.send' }));
  for (const answer of pair) answer.catch(() => {});
  await expect.poll(() => agent.received.length).toBe(2);
  const [first, second] = pair.map((answer, index) => {
    const final = async () => JSON.parse((await answer).at(-1) ?? '') as { readonly body: JsonObject };
    return {
      id: agent.received[index]?.request_id ?? '',
      final,
      message: async () => (await final()).body['message'],
    };
  });
  if (first === undefined || second === undefined) throw new Error('two requests were sent');
  return [first, second] as const;
}

/** A request in this session, answered by the agent. */
async function converse(socket: SocketClient, session: string): Promise<void> {
  const pair = agent.received.length;
  const answer = socket.ask({ request_id: fresh(), method: 'chat.send', session_id: session });
  await expect.poll(() => agent.received.length).toBe(pair + 1);
  agent.complete(agent.received[pair]?.request_id ?? '', {});
  await answer;
}

async function pushes(socket: SocketClient, count: number): Promise<JsonObject[]> {
  const received: JsonObject[] = [];
  const frames = socket.frames(null);
  while (received.length < count) received.push(JSON.parse((await frames.next()).value ?? 'null'));
  return received;
}

/** Whether nothing has come by itself, and nothing does for a while. */
function hearsNothing(socket: SocketClient): Promise<boolean> {
  const received = pushes(socket, 1).then(
    () => false,
    () => true,
  );
  return Promise.race([received, delay(150, true)]);
}
