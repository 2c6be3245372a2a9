import { failure } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import type { ApiRequest } from '../workflow/effects.ts';
import { delayBefore, hadLeft, isIdempotent, isTransient } from './retry.ts';

test('the wait doubles from one second, with up to a tenth more, and never passes a minute', () => {
  const plain = [1, 2, 3, 4, 5, 6, 7].map((failures) => delayBefore(failures, { random: 0 }));
  expect(plain).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
  expect(delayBefore(1, { random: 1 })).toBe(1100);
  expect(delayBefore(9, { random: 1 })).toBe(60_000);
});

test('a wait that the peer requests is honoured in full', () => {
  expect(delayBefore(1, { random: 0, retryAfterMs: 90_000 })).toBe(90_000);
  expect(delayBefore(3, { random: 0, retryAfterMs: 10 })).toBe(4000);
});

test.each([
  ['GET', {}, true],
  ['PUT', {}, true],
  ['DELETE', {}, true],
  ['POST', {}, false],
  ['PATCH', {}, false],
  ['POST', { idempotencyKey: 'k' }, true],
  ['PATCH', { headers: { 'idempotency-KEY': 'k' } }, true],
] as const)('%s with %j may be repeated: %s', (method, more, expected) => {
  const request: ApiRequest = {
    operationId: 'a',
    method,
    url: 'https://api.example.com/',
    query: [],
    headers: {},
    body: undefined,
    idempotencyKey: undefined,
    timeoutMs: 1000,
    carries: [],
    ...more,
  };
  expect(isIdempotent(request)).toBe(expected);
});

test('408, 429 and 5xx pass; other answers stay', () => {
  expect([408, 429, 500, 502, 503, 504].every(isTransient)).toBe(true);
  expect([200, 301, 400, 401, 403, 404, 409, 422, 425, 501].some(isTransient)).toBe(false);
});

test('a failure that does not say so is treated as sent', () => {
  expect(hadLeft(failure('unreachable', { sent: false }))).toBe(false);
  expect(hadLeft(failure('timeout', { sent: true }))).toBe(true);
  expect(hadLeft(failure('timeout'))).toBe(true);
});
