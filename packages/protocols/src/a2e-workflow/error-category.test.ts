import { expect, test } from 'vitest';
import { withCategory } from './error-category.ts';
import type { WorkflowError } from './message.ts';

test.each([
  ['PermissionError', { code: 'unauthenticated' }, 'authentication'],
  ['PermissionError', { code: 'forbidden' }, 'authorization'],
  ['ValidationError', undefined, 'validation'],
  ['DataError', { path: '/workflow/x' }, 'data_error'],
  ['TimeoutError', { code: 'timeout', sent: true }, 'network'],
  ['TimeoutError', { code: 'timeout' }, 'execution'],
  ['ExecutionError', { statusCode: 500 }, 'api_error'],
  ['ExecutionError', { code: 'unreachable' }, 'network'],
  ['ExecutionError', { code: 'agent_failed', retryable: true }, 'network'],
  ['ExecutionError', { code: 'agent_failed', retryable: false }, 'api_error'],
  ['ExecutionError', { budget: 'steps' }, 'execution'],
  ['ExecutionError', { code: 'internal' }, 'unknown'],
] as const)('%s with %j is of the category %s', (type, details, category) => {
  const error: WorkflowError = { type, message: 'm', ...(details !== undefined && { details }) };
  expect(withCategory(error)).toEqual({ ...error, category });
});
