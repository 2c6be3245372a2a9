import { describe, expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import type { ApiAnswer, ApiRequest } from '../workflow/effects.ts';
import { AnswerCache } from './answer-cache.ts';

const versions = new Map([['key', '1']]);

function made({ ttlMs = 300_000 } = {}) {
  const clock = new TestClock();
  return {
    clock,
    cache: new AnswerCache({ clock, ids: new TestIds(), ttlMs, versionOf: (id) => versions.get(id) ?? '' }),
  };
}

function get(fields: Partial<ApiRequest> = {}): ApiRequest {
  const url = 'https://api.example.com/users';
  const none = { query: [], headers: {}, body: undefined, idempotencyKey: undefined, carries: [] };
  return { operationId: 'a', method: 'GET', url, timeoutMs: 1000, ...none, ...fields };
}

const answer: ApiAnswer = { status: 200, contentType: 'application/json', bytes: new TextEncoder().encode('[1]') };

test('an answer stands for five minutes and not longer', () => {
  const { cache, clock } = made();
  cache.keep('ann', get(), answer, { start: cache.startCall('ann', get()) });
  clock.pass(299_999);
  expect(cache.find('ann', get())).toMatchObject({ bytes: answer.bytes, cached: true });
  clock.pass(1);
  expect(cache.find('ann', get())).toBeUndefined();
});

test('one agent never gets what another was answered, nor with another version of a credential', () => {
  const { cache } = made();
  const keyed = get({ headers: { 'X-API-Key': new CredentialUse('key') } });
  cache.keep('ann', keyed, answer, { start: cache.startCall('ann', keyed) });
  expect(cache.find('bob', keyed)).toBeUndefined();
  expect(cache.find('ann', get())).toBeUndefined();
  expect(cache.find('ann', get({ headers: { 'x-api-key': new CredentialUse('key') } }))).toBeDefined();
  versions.set('key', '2');
  expect(cache.find('ann', keyed)).toBeUndefined();
});

test('each cached answer has a new name, even if it equals an earlier one', () => {
  const { cache } = made();
  const kept = () => cache.keep('ann', get(), answer, { start: cache.startCall('ann', get()) }).lineage;
  const first = kept();
  expect(cache.find('ann', get())?.lineage).toBe(first);
  expect(kept()).not.toBe(first);
});

describe('nothing is kept', () => {
  test.each([
    ['of a POST', get({ method: 'POST' }), answer, undefined],
    ['of an answer that is no success', get(), { ...answer, status: 500 }, undefined],
    ['of a redirect', get(), { ...answer, status: 302 }, undefined],
    ['that says no-store', get(), answer, 'private, no-store'],
    ['that says no-cache', get(), answer, 'no-cache'],
    ['that is old at once', get(), answer, 'max-age=0'],
    ['for a caller that says no-store', get({ headers: { 'Cache-Control': 'no-store' } }), answer, undefined],
  ] as const)('%s', (_, request, given, cacheControl) => {
    const { cache } = made();
    cache.keep('ann', request, given, { cacheControl, start: cache.startCall('ann', request) });
    expect(cache.find('ann', request)).toBeUndefined();
    expect(cache.clear()).toBe(0);
  });

  test('of an answer to a call that left before the one whose answer is kept', () => {
    const { cache } = made();
    const [early, late] = [cache.startCall('ann', get()), cache.startCall('ann', get())];
    cache.keep('ann', get(), { ...answer, contentType: 'late' }, { start: late });
    cache.keep('ann', get(), { ...answer, contentType: 'early' }, { start: early });
    expect(cache.find('ann', get())?.contentType).toBe('late');
  });

  test('with a time of 0', () => {
    const { cache } = made({ ttlMs: 0 });
    cache.keep('ann', get(), answer, { start: cache.startCall('ann', get()) });
    expect(cache.find('ann', get())).toBeUndefined();
  });
});

test('max-age makes the time shorter and never longer', () => {
  const { cache, clock } = made();
  cache.keep('ann', get(), answer, { cacheControl: 'max-age=10', start: cache.startCall('ann', get()) });
  const long = get({ url: 'https://api.example.com/long' });
  cache.keep('ann', long, answer, { cacheControl: 'max-age=99999', start: cache.startCall('ann', long) });
  clock.pass(10_000);
  expect(cache.find('ann', get())).toBeUndefined();
  clock.pass(290_000);
  expect(cache.find('ann', long)).toBeUndefined();
});

test('an answer to a request sent before a write is not cached; elsewhere, and for others, it is', () => {
  const { cache } = made();
  const elsewhere = get({ url: 'https://other.example.com/' });
  const calls = ['ann', 'bob'].flatMap((owner) =>
    [get(), elsewhere].map((one) => ({ owner, one, start: cache.startCall(owner, one) })),
  );
  cache.forgetOrigin('ann', 'https://api.example.com/orders');
  for (const { owner, one, start } of calls) cache.keep(owner, one, answer, { start });
  expect([cache.find('ann', get()), cache.find('ann', elsewhere), cache.find('bob', get())].map(Boolean)).toEqual([
    false,
    true,
    true,
  ]);
  cache.keep('ann', get(), answer, { start: cache.startCall('ann', get()) });
  expect(cache.find('ann', get())).toBeDefined();
});

test('a write forgets the origin, for its agent alone; clearing forgets all of one or of everybody', () => {
  const { cache } = made();
  const elsewhere = get({ url: 'https://other.example.com/' });
  for (const owner of ['ann', 'bob'])
    for (const one of [get(), elsewhere]) cache.keep(owner, one, answer, { start: cache.startCall(owner, one) });
  cache.forgetOrigin('ann', 'https://api.example.com/orders');
  expect([cache.find('ann', get()), cache.find('ann', elsewhere), cache.find('bob', get())].map(Boolean)).toEqual([
    false,
    true,
    true,
  ]);
  expect(cache.clear('ann')).toBe(1);
  expect(cache.clear()).toBe(2);
});

test('an answer to a request sent before the cache was cleared is not cached; for others it is', () => {
  const { cache } = made();
  const both = () => ['ann', 'bob'].map((owner) => ({ owner, start: cache.startCall(owner, get()) }));
  const found = () => [cache.find('ann', get()), cache.find('bob', get())].map(Boolean);
  const before = both();
  cache.clear('ann');
  for (const { owner, start } of before) cache.keep(owner, get(), answer, { start });
  expect(found()).toEqual([false, true]);
  const again = both();
  cache.clear();
  for (const { owner, start } of again) cache.keep(owner, get(), answer, { start });
  expect(found()).toEqual([false, false]);
});

test('an answer for a credential is not used for the one that replaced it', () => {
  const { cache } = made();
  const keyed = get({ headers: { 'X-API-Key': new CredentialUse('key') } });
  const start = cache.startCall('ann', keyed);
  versions.set('key', '3');
  cache.keep('ann', keyed, answer, { start });
  expect(cache.find('ann', keyed)).toBeUndefined();
});
