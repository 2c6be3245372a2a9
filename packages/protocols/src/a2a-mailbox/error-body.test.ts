import { describe, expect, test } from 'vitest';
import { FAILURES, type FailureCode, failure } from '../failure.ts';
import { errorBody } from './error-body.ts';

const now = new Date('2026-02-21T18:00:00.000Z');
const timestamp = '2026-02-21T18:00:00.000Z';

describe('an error body', () => {
  test('of an invalid message lists every problem in its own sentence', () => {
    const issues = [
      { pointer: '/from', code: 'required', message: 'Missing required field: from' },
      {
        pointer: '/to/agentId',
        code: 'pattern',
        message: 'Invalid agentId format (expected CAIP-2: eip155:chainId:registry:tokenId)',
        suggestion: 'got "x"',
      },
    ];
    expect(errorBody(failure('invalid_message', { issues }), now)).toEqual({
      error: 'Invalid message format',
      errors: [
        'Missing required field: from',
        'Invalid agentId format (expected CAIP-2: eip155:chainId:registry:tokenId)',
      ],
      timestamp,
    });
  });

  test('includes the fix where the sentence is ours', () => {
    const unknown = { pointer: '/threadId', code: 'unknown_field', message: 'threadId is not a field of a message' };
    const issues = [{ ...unknown, suggestion: 'move it to metadata.threadId' }];
    expect(errorBody(failure('invalid_message', { issues }), now).errors).toEqual([
      'threadId is not a field of a message; move it to metadata.threadId',
    ]);
    const nobody = failure('no_route', { suggestions: ['did you mean clock?'] }, 'Unknown agent "clok".');
    expect(errorBody(nobody, now).message).toBe('Unknown agent "clok". Did you mean clock?');
    const suggestions = ['ask the operator to add "clock" to permissions.agents'];
    expect(errorBody(failure('forbidden', { suggestions }), now).message).toBe(
      'Permission denied. Ask the operator to add "clock" to permissions.agents.',
    );
  });

  test('of text that is not JSON has one sentence in its list', () => {
    expect(errorBody(failure('not_json'), now)).toEqual({
      error: 'Invalid message format',
      errors: ['The message is not valid JSON.'],
      timestamp,
    });
  });

  test('of an exhausted limit says when to try again', () => {
    expect(errorBody(failure('rate_limited', { retry_after: 12 }), now)).toEqual({
      error: 'Rate limit exceeded',
      message: 'Rate limit exceeded.',
      retryAfter: 12,
      timestamp,
    });
  });

  test('of a fault of ours is the one the spec lists', () => {
    const error = { error: 'Internal server error', message: 'Internal error.', timestamp };
    expect(errorBody(failure('internal'), now)).toEqual(error);
  });

  test.each(Object.keys(FAILURES) as FailureCode[])(
    'exists for %s, with a list exactly when the status is 400',
    (code) => {
      const body = errorBody(failure(code), now);
      expect(body.error).toMatch(/^[A-Z]/);
      expect(body.errors === undefined).toBe(FAILURES[code].http !== 400);
      expect(body.timestamp).toBe(timestamp);
    },
  );
});
