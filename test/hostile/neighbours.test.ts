import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { pair, request, type SigningCaller, signed, signingCaller } from '../system/a2a-peer.ts';
import { call, type HttpAnswer } from '../system/call.ts';
import { moduleAgent, System } from '../system/system.ts';

/** All callers have one address, as behind a proxy that forwards no client address. */
const LIMIT = 5;
const config = {
  agents: { echo: moduleAgent('echo') },
  default_agent: 'echo',
  mailbox: { anonymous: ['echo'], requests_per_minute: LIMIT },
  messages: { unproven_per_minute: LIMIT },
};

const FLOODS: Record<string, (system: System) => Promise<HttpAnswer>> = {
  'messages without a key': (system) => post(system, '/a2a', { from: 'Eve', message: 'hi' }),
  'wrong keys': (system) => post(system, '/e2a', { method: 'chat.send', params: {} }, 'dgm_wrong'),
  'unsigned A2A messages': (system) => post(system, '/a2a/messages', request({ content: 'hi' })),
  'A2A messages signed by nobody we know': (system) => post(system, '/a2a/messages', forged('ada-agent')),
};

describe.each(Object.keys(FLOODS))('beside an address full of %s', (name) => {
  const flood = async (system: System) => {
    const statuses: number[] = [];
    for (let time = 0; time < 3 * LIMIT; time += 1) statuses.push((await FLOODS[name]?.(system))?.status ?? 0);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2 * LIMIT);
  };

  test.each([
    ['after it began', true],
    ['before it began', false],
  ])('proven callers at that address keep their whole rate: %s', async (_order, isFloodFirst) => {
    await using system = await System.start({ config });
    const ada = await signingCaller(system, 'ada-agent');
    if (isFloodFirst) await flood(system);
    await expectWholeRate(system, ada);
    if (!isFloodFirst) await flood(system);
    const keyed = await post(system, '/e2a', { method: 'chat.send', params: { content: 'hi' } }, ada.api_key);
    expect(keyed.status).toBe(200);
    expect((await post(system, '/a2a/messages', signed(ada, request({ content: 'hi' })))).status).toBe(200);
  });
});

describe('an address that has sent too many unproven messages', async () => {
  const system = await System.start({ config });
  afterAll(() => system[Symbol.asyncDispose]());
  const ada = await signingCaller(system, 'ada-agent');
  for (let time = 0; time < LIMIT; time += 1) await post(system, '/a2a/messages', request({}));

  test('gets the same answer to forged messages whether their sender exists or not', async () => {
    const answers = await Promise.all(
      ['ada-agent', 'nobody-agent'].map(async (agentId) => {
        const answer = await post(system, '/a2a/messages', forged(agentId));
        return [answer.status, await answer.json()];
      }),
    );
    expect(answers[0]?.[0]).toBe(429);
    expect(answers[1]).toEqual(answers[0]);
  });

  test('has to prove who sends a large message in another way', async () => {
    const large = signed(ada, request({ content: 'x'.repeat(70_000) }));
    expect((await post(system, '/a2a/messages', large)).status).toBe(413);
    expect((await post(system, '/a2a/messages', large, ada.api_key)).status).toBe(200);
  });
});

/** As many mailbox messages as one agent may send, and one more. */
async function expectWholeRate(system: System, { api_key: key }: SigningCaller): Promise<void> {
  const statuses: number[] = [];
  for (let time = 0; time <= LIMIT; time += 1) {
    statuses.push((await post(system, '/a2a', { from: 'Ada', message: 'hi' }, key)).status);
  }
  expect(statuses).toEqual([...Array(LIMIT).fill(200), 429]);
}

function forged(agentId: string): JsonObject {
  return signed({ ...pair(), agentId, api_key: '' }, request({ content: 'hi' }));
}

function post({ url }: System, path: string, json: JsonObject, key?: string): Promise<HttpAnswer> {
  return call(url, { method: 'POST', path, json, ...(key !== undefined && { key }) });
}
