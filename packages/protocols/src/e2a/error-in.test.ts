import { expect, test } from 'vitest';
import { failure } from '../failure.ts';
import { errorBodyOf } from './dialect.ts';
import { errorIn } from './error-in.ts';

test('what this server writes is read back', () => {
  const interrupted = failure('interrupted', { retry_after: 5 });
  expect(errorIn(errorBodyOf(interrupted))).toEqual({ failure: 'interrupted', retryable: true, retryAfter: 5 });
  const final = { ...failure('agent_failed'), retryable: false };
  expect(errorIn(errorBodyOf(final))).toMatchObject({ failure: 'agent_failed', retryable: false });
});

test('what an agent writes beside its code takes precedence', () => {
  const body = { code: 'SHOP.CLOSED', retryable: true, retry_after: 60, details: { retryable: false, retry_after: 1 } };
  expect(errorIn(body)).toEqual({ failure: undefined, retryable: true, retryAfter: 60 });
});

test('otherwise the code decides about a retry, and values of other types are left out', () => {
  expect(errorIn({ code: 'E2A.INTERNAL_ERROR' })).toMatchObject({ failure: 'internal', retryable: true });
  expect(errorIn({ code: 'E2A.FORBIDDEN', retryable: 'yes', retry_after: '1' })).toEqual({
    failure: 'forbidden',
    retryable: false,
    retryAfter: undefined,
  });
  expect(errorIn({ code: 7, details: [] })).toEqual({
    failure: undefined,
    retryable: undefined,
    retryAfter: undefined,
  });
});
