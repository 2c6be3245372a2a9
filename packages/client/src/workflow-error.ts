import { isObject, type JsonObject } from '@dragoman/protocols';
import { DragomanError, isRetryable, issuesIn, textsIn } from './dragoman-error.ts';

/**
 * The error in the format of A2E workflows, `{error: {type, message, details, suggestions}}`; `undefined` for any other
 * body.
 */
export function workflowErrorOf(
  json: JsonObject,
  status: number,
  retryAfter: number | undefined,
): DragomanError | undefined {
  const { error, message, retry_after: given } = json;
  if (error === 'Rate limit exceeded' && typeof message === 'string') {
    const seconds = retryAfter ?? (typeof given === 'number' ? given : undefined);
    return new DragomanError({ code: 'rate_limited', message, status, retryable: true, retryAfter: seconds });
  }
  if (!isObject(error) || typeof error['type'] !== 'string' || typeof error['message'] !== 'string') return undefined;
  const details = isObject(error['details']) ? error['details'] : {};
  const { operationId } = error;
  const code = String(details['code'] ?? 'internal');
  return new DragomanError({
    code,
    message: error['message'],
    status,
    retryable: isRetryable(code) ?? false,
    issues: issuesIn(details['issues']),
    suggestions: textsIn(error['suggestions']),
    retryAfter,
    details: typeof operationId === 'string' ? { ...details, operationId } : details,
  });
}
