import { describe, expect, test } from 'vitest';
import { errorCodeFrom, fittingErrorCode } from './error-code.ts';
import { ERROR_CODES, errorCodeForStatus, retryAdvice } from './errors.ts';

describe('the table of error codes', () => {
  test('every code has the form a code must have', () => {
    for (const code of Object.keys(ERROR_CODES)) expect(fittingErrorCode(code)).toBe(code);
    expect(Object.keys(ERROR_CODES)).toHaveLength(27);
  });

  test('it says when to try again', () => {
    expect(retryAdvice('RATE_LIMIT_EXCEEDED')).toBe('yes');
    expect(retryAdvice('NOT_FOUND')).toBe('maybe');
    expect(retryAdvice('FORBIDDEN')).toBe('never');
  });

  test('a code that is not in it is not tried again, be it a name every object has', () => {
    for (const code of ['INVALID_CURRENCY', 'toString', '__proto__', '']) expect(retryAdvice(code)).toBe('never');
  });

  test.each([
    [400, 'INVALID_MESSAGE'],
    [404, 'NOT_FOUND'],
    [501, 'NOT_IMPLEMENTED'],
    [401, 'AUTHENTICATION_FAILED'],
    [418, undefined],
  ])('the HTTP status %d is %s', (status, code) => {
    expect(errorCodeForStatus(status)).toBe(code);
  });
});

describe('codes from elsewhere', () => {
  test.each([
    ['timeout', 'TIMEOUT'],
    ['E2A.TIMEOUT', 'E2A_TIMEOUT'],
    ['__x__', 'ERROR_X'],
    ['404', 'ERROR_404'],
    ['ß', 'SS'],
    ['', 'ERROR'],
    ['x'.repeat(1000), 'X'.repeat(128)],
  ])('%s is spelt %s', (code, fitting) => {
    expect(fittingErrorCode(code)).toBe(fitting);
  });

  test('a code of ours is mapped by its meaning, not by its spelling', () => {
    expect(errorCodeFrom('E2A.TIMEOUT')).toBe('TIMEOUT');
    expect(errorCodeFrom({})).toBe('INTERNAL_ERROR');
    expect(errorCodeFrom(undefined)).toBe('INTERNAL_ERROR');
  });
});
