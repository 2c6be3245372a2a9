import { ALL_PERMISSIONS, Limiter, openPostgresStore, type Principal } from '@dragoman/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startQuickPostgres } from '../../../core/test-support/postgres-server.ts';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import type { Route } from '../http/route.ts';
import { MailboxLimits } from './mailbox-limits.ts';

const route = {} as Route;
const agent = (id: string): Principal => ({ id, kind: 'agent', permissions: ALL_PERMISSIONS });

function opened({ perMinute = 3, maxConcurrent = 2, requestsPerMinute = 100 } = {}) {
  const clock = new TestClock();
  const limiter = new Limiter({ clock, limits: { requests_per_minute: requestsPerMinute } });
  const limits = new MailboxLimits({ clock, limiter, perMinute, maxConcurrent });
  const count = (address: string, principal?: Principal) => {
    const counted = limits.count({ principal, route, address, bytes: 0 });
    if (counted.release !== undefined) counted.release();
    return counted.failure?.message ?? 'counted';
  };
  return { clock, limits, count };
}

describe('mailbox limits', () => {
  test('count by address, an IPv6 network being one, and a minute later the count starts again', () => {
    const { clock, count } = opened();
    expect([1, 2, 3].map((last) => count(`2001:db8::${last}`))).toEqual(Array(3).fill('counted'));
    expect(count('2001:db8::4')).toBe('Rate limit exceeded: 3 messages per minute for each address.');
    expect(count('2001:db8:0:1::4')).toBe('counted');
    clock.pass(62_000);
    expect(count('2001:db8::4')).toBe('counted');
  });

  test.each([
    ['before', (one: () => void, other: () => void) => [one(), other()]],
    ['after', (one: () => void, other: () => void) => [other(), one()]],
  ])('take nothing from an agent with a key that writes %s senders without one flood its address', (_order, inTurn) => {
    const { count } = opened({ perMinute: 3 });
    const agentWrites = () => {
      for (const name of ['ann', 'bob']) {
        const results = Array.from({ length: 4 }, () => count('10.0.0.1', agent(name)));
        expect(results.filter((text) => text === 'counted')).toHaveLength(3);
        expect(results[3]).toBe('Rate limit exceeded: 3 messages per minute for each agent.');
      }
    };
    const anonymousWrites = () => {
      const results = Array.from({ length: 4 }, () => count('10.0.0.1'));
      expect(results.filter((text) => text === 'counted')).toHaveLength(3);
      expect(results[3]).toBe('Rate limit exceeded: 3 messages per minute for each address.');
    };
    inTurn(agentWrites, anonymousWrites);
  });

  test('count by agent, from wherever it calls', () => {
    const { count } = opened();
    expect([1, 2, 3].map((last) => count(`10.0.0.${last}`, agent('ann')))).toEqual(Array(3).fill('counted'));
    expect(count('10.0.0.4', agent('ann'))).toBe('Rate limit exceeded: 3 messages per minute for each agent.');
    expect(count('10.0.0.4', agent('bob'))).toBe('counted');
  });

  test('count towards the limits of an agent over all endpoints', () => {
    const { count } = opened({ requestsPerMinute: 1 });
    expect(count('10.0.0.1', agent('ann'))).toBe('counted');
    expect(count('10.0.0.1', agent('ann'))).toBe('Rate limit exceeded: 1 requests per minute.');
  });

  test('let an answer be polled once a second, of as many as may be open, and more than twice that is too much', () => {
    const { clock, limits } = opened({ maxConcurrent: 2 });
    const read = (principal?: Principal) =>
      limits.countRead({ principal, route, address: '10.0.0.1', bytes: 0 }).failure;
    for (let second = 0; second < 180; second += 1) {
      expect([read(), read()]).toEqual([undefined, undefined]);
      clock.pass(1000);
    }
    const refused = Array.from({ length: 240 }, () => read()).filter((failure) => failure !== undefined);
    expect(refused.length).toBeGreaterThanOrEqual(118);
    expect(refused[0]).toMatchObject({
      code: 'rate_limited',
      message: 'Rate limit exceeded: 240 answers read per minute and address.',
      details: { limit: 240, window_seconds: 60, retry_after: expect.any(Number) },
    });
    expect(read(agent('ann'))).toBeUndefined();
    clock.pass(1000 * (refused.at(-1)?.details.retry_after ?? 0));
    expect(read()).toBeUndefined();
  });

  test('give a place back when it is released, once', () => {
    const { limits } = opened({ perMinute: 100 });
    const enter = () => limits.count({ principal: agent('ann'), route, address: '10.0.0.1', bytes: 0 });
    const [first, second, third] = [enter(), enter(), enter()];
    expect([first.failure, second.failure, third.failure?.code]).toEqual([undefined, undefined, 'rate_limited']);
    first.release?.();
    expect(enter().failure).toBeUndefined();
    expect(enter().failure?.code).toBe('rate_limited');
  });
});

test('several nodes together let an agent send the messages of one minute', async () => {
  const postgres = await startQuickPostgres();
  onTestFinished(() => postgres.stop());
  await using store = await openPostgresStore({ url: postgres.url('mailbox') });
  const clock = new TestClock();
  const limiters = [1, 2].map(() => new Limiter({ clock, counters: store.counters }));
  const nodes = limiters.map((limiter) => new MailboxLimits({ clock, limiter, perMinute: 10, maxConcurrent: 2 }));
  const send = async (limits: MailboxLimits | undefined) => {
    const call = { principal: agent('ann'), route, address: '10.0.0.1', bytes: 0 };
    await limits?.lease(call);
    const counted = limits?.count(call);
    counted?.release?.();
    return counted?.failure?.message ?? 'counted';
  };
  const results: string[] = [];
  for (let number = 0; number < 24; number += 1) {
    results.push(await send(nodes[number % 2]));
    for (const limiter of limiters) await limiter.save(store.counters);
  }
  expect(results.filter((text) => text === 'counted')).toHaveLength(10);
  expect(results.at(-1)).toBe('Rate limit exceeded: 10 messages per minute for each agent.');
});
