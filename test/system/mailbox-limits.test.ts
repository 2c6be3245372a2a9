import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call, type HttpAnswer } from './call.ts';
import { agentModule, System } from './system.ts';

const agents = { letters: { driver: 'module' as const, module: agentModule('letters'), max_parallel: 64 } };
/** The default settings, with a longer wait. */
const system = await System.start({
  config: { default_agent: 'letters', agents, mailbox: { anonymous: ['letters'], answer_within_ms: 60_000 } },
});
const closed = await System.start({
  config: { default_agent: 'letters', agents: { ...agents, other: agents.letters }, mailbox: { anonymous: ['other'] } },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await closed[Symbol.asyncDispose]();
});
const mine = await system.caller('my-agent');
const MESSAGE = { from: 'Me', message: 'hi' };

describe('with the default settings', () => {
  test('ten requests of one agent are served at the same time, and an eleventh gets Retry-After', async () => {
    const slow = { from: 'Me', message: { content: { wait_ms: 1500 } } };
    const answers = Array.from({ length: 10 }, () => post(system, slow, mine.api_key));
    await new Promise((resolve) => setTimeout(resolve, 700));
    const eleventh = await post(system, slow, mine.api_key);
    expect([eleventh.status, eleventh.headers['retry-after'], await eleventh.json()]).toEqual([
      429,
      '1',
      {
        error: 'Rate limit exceeded',
        message: 'Too many requests at the same time: 10 are served.',
        retryAfter: 1,
        timestamp: expect.any(String),
      },
    ]);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  test('thirty a minute come from one address, whatever names they give, and the others get Retry-After', async () => {
    const answers: HttpAnswer[] = [];
    for (let number = 0; number < 36; number += 1) {
      answers.push(await post(system, { ...MESSAGE, from: `Name ${number}` }));
    }
    const refused = answers.filter(({ status }) => status === 429);
    // Messages with a key, in the test above, do not count.
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([30, 6]);
    const [first] = refused;
    const wait = Number(first?.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(await first?.json()).toEqual({
      error: 'Rate limit exceeded',
      message: 'Rate limit exceeded: 30 messages per minute for each address.',
      retryAfter: wait,
      timestamp: expect.any(String),
    });
    expect(answers[0]?.headers['x-ratelimit-limit']).toBe('30');
    expect(Number(answers[0]?.headers['x-ratelimit-remaining'])).toBe(29);
    // Asking for an answer is not writing.
    expect((await call(system.url, { path: '/a2a/messages/never-was' })).status).toBe(404);
  });
});

test('requests for answers without a key are counted by address, even for missing answers', async () => {
  const few = await System.start({ config: { agents, mailbox: { anonymous: ['letters'], max_concurrent: 1 } } });
  try {
    const read = (key?: string) =>
      call(few.url, { path: '/a2a/messages/never-was', ...(key !== undefined && { key }) });
    const statuses: number[] = [];
    for (let count = 0; count < 120; count += 1) statuses.push((await read()).status);
    expect(new Set(statuses)).toEqual(new Set([404]));
    const refused = await read();
    expect([refused.status, refused.headers['x-ratelimit-limit'], await refused.json()]).toEqual([
      429,
      '120',
      {
        error: 'Rate limit exceeded',
        message: 'Rate limit exceeded: 120 answers read per minute and address.',
        retryAfter: Number(refused.headers['retry-after']),
        timestamp: expect.any(String),
      },
    ]);
    // Neither sending nor callers with a key are affected by that.
    expect((await post(few, { ...MESSAGE, to: 'letters' })).status).toBe(200);
    expect((await read((await few.caller('my-agent')).api_key)).status).toBe(404);
  } finally {
    await few[Symbol.asyncDispose]();
  }
});

describe('where senders without a key may write only to some', () => {
  test('they may, and to no other agent', async () => {
    expect((await post(closed, { ...MESSAGE, to: 'other' })).status).toBe(200);
    const refused = await post(closed, MESSAGE);
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'Unauthorized' }]);
  });

  test('and no other is listed', async () => {
    const { agents: listed } = (await (await call(closed.url, { path: '/agent' })).json()) as { agents: JsonObject[] };
    expect(listed.map(({ id }) => id)).toEqual(['other']);
  });
});

test.each([{}, { anonymous: [] }, { anonymous: false }])(
  'with mailbox: %j senders need a key, and only the default agent has a public card',
  async (mailbox) => {
    const keyed = await System.start({
      config: { default_agent: 'letters', agents: { ...agents, other: agents.letters }, mailbox },
    });
    try {
      const refused = await post(keyed, { ...MESSAGE, to: 'letters' });
      expect([refused.status, await refused.json()]).toMatchObject([
        401,
        {
          error: 'Unauthorized',
          message: 'Authentication required. Send a key, or ask the operator to list this agent in mailbox.anonymous.',
        },
      ]);
      const about = await (await call(keyed.url, { path: '/agent' })).json();
      expect(about).toMatchObject({ anonymous: false, agents: [] });
      const card = await (await call(keyed.url, { path: '/.well-known/agent-card.json' })).json();
      expect(card).toMatchObject({ skills: [{ id: 'letters' }] });
      expect(JSON.stringify(card)).not.toContain('other');
      expect((await post(keyed, MESSAGE, (await keyed.caller('my-agent')).api_key)).status).toBe(200);
    } finally {
      await keyed[Symbol.asyncDispose]();
    }
  },
);

function post({ url }: System, json: JsonObject, key?: string): Promise<HttpAnswer> {
  return call(url, { method: 'POST', path: '/a2a', json, ...(key !== undefined && { key }) });
}
