import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startQuickPostgres } from '../../test-support/postgres-server.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { failureOf } from '../refusals/refused.ts';
import { connectPostgresStore, type PostgresStore } from '../store/postgres/postgres-store.ts';
import { Limiter } from './limiter.ts';

// Several processes that count for the same callers: together they allow no more than the limit.

let server: PostgresServer;
let store: PostgresStore;
let callers = 0;

beforeAll(async () => {
  server = await startQuickPostgres();
  store = await connectPostgresStore({ url: server.url('limits') });
});

afterAll(async () => {
  await store?.[Symbol.asyncDispose]();
  await server?.stop();
});

const LIMITS = { requests_per_minute: 40, requests_per_hour: 100, requests_per_day: 1000 };

function nodes(count: number, clock = new TestClock()) {
  const { counters } = store;
  return Array.from({ length: count }, () => new Limiter({ clock, limits: LIMITS, counters }));
}

function somebody(): Principal {
  callers += 1;
  return { id: `caller-${callers}`, kind: 'agent', permissions: NO_PERMISSIONS };
}

async function isLetThrough(limiter: Limiter, principal: Principal): Promise<boolean> {
  await limiter.lease(principal);
  try {
    limiter.request(principal);
    return true;
  } catch (error) {
    if (failureOf(error)?.code !== 'rate_limited') throw error;
    return false;
  }
}

describe('three processes', () => {
  test('let through exactly the limit, however many ask at once', async () => {
    const [limiters, principal] = [nodes(3), somebody()];
    const requests = Array.from({ length: 120 }, (_, number) =>
      isLetThrough(limiters[number % 3] as Limiter, principal),
    );
    expect((await Promise.all(requests)).filter((is) => is)).toHaveLength(40);
    // Reserved counts of one are available to another after the next save.
  });

  test('do so one after the other too, and the last ones are found wherever they are', async () => {
    const [limiters, principal] = [nodes(3), somebody()];
    let through = 0;
    for (let number = 0; number < 60; number += 1) {
      if (await isLetThrough(limiters[number % 3] as Limiter, principal)) through += 1;
      for (const limiter of limiters) await limiter.save(store.counters);
    }
    expect(through).toBe(40);
  });

  test('have the window free again when it has passed, and the hour counts for all of them', async () => {
    const clock = new TestClock();
    const [limiters, principal] = [nodes(3, clock), somebody()];
    let through = 0;
    for (let minute = 0; minute < 4; minute += 1) {
      for (let number = 0; number < 60; number += 1) {
        if (await isLetThrough(limiters[number % 3] as Limiter, principal)) through += 1;
      }
      for (const limiter of limiters) await limiter.save(store.counters);
      await clock.advance(122_000);
    }
    expect(through).toBe(100);
  });

  test('report the remaining requests of a caller, including those counted ahead', async () => {
    const [[one, other], principal] = [nodes(2) as [Limiter, Limiter], somebody()];
    for (let number = 0; number < 3; number += 1) expect(await isLetThrough(one, principal)).toBe(true);
    expect(one.states(principal).map(({ remaining }) => remaining)).toEqual([37, 97, 997]);
    await one.save(store.counters);
    expect(await isLetThrough(other, principal)).toBe(true);
    expect(other.states(principal).map(({ remaining }) => remaining)).toEqual([36, 96, 996]);
  });

  test('give back what was set aside for callers that were refused for another reason', async () => {
    const [[one, other], principal] = [nodes(2) as [Limiter, Limiter], somebody()];
    for (let number = 0; number < 40; number += 1) await one.lease(principal);
    expect(await isLetThrough(other, principal)).toBe(false);
    await one.save(store.counters);
    expect(one.states(principal).map(({ remaining }) => remaining)).toEqual([40, 100, 1000]);
    await expect.poll(() => isLetThrough(other, principal)).toBe(true);
  });

  test('a process that did not wait goes by what it knows, and knows soon', async () => {
    const [[one, other], principal] = [nodes(2) as [Limiter, Limiter], somebody()];
    for (let number = 0; number < 40; number += 1) await isLetThrough(one, principal);
    other.request(principal);
    await expect.poll(() => failureOf(refusalOf(() => other.request(principal)))?.code).toBe('rate_limited');
  });
});

test('where the store cannot be reached, a process goes by what it knows', async () => {
  const counters = { ...store.counters, lease: () => Promise.reject(new Error('away')) };
  const limiter = new Limiter({ clock: new TestClock(), limits: LIMITS, counters });
  const principal = somebody();
  let through = 0;
  for (let number = 0; number < 60; number += 1) if (await isLetThrough(limiter, principal)) through += 1;
  expect(through).toBe(40);
});

function refusalOf(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}
