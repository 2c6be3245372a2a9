import type { WorkflowError } from './message.ts';

/**
 * Adds the reference implementation's error category to the spec's type, which does not distinguish an
 * API error from an unreachable API.
 */
export function withCategory(error: WorkflowError): WorkflowError {
  return { ...error, category: categoryOf(error) };
}

type Category =
  | 'authentication'
  | 'authorization'
  | 'validation'
  | 'network'
  | 'api_error'
  | 'data_error'
  | 'execution'
  | 'unknown';

function categoryOf({ type, details = {} }: WorkflowError): Category {
  const { code, statusCode, sent, retryable } = details;
  if (type === 'ValidationError') return 'validation';
  if (type === 'DataError') return 'data_error';
  if (type === 'PermissionError') return code === 'unauthenticated' ? 'authentication' : 'authorization';
  // Only calls report whether the request was sent; any other timeout is the execution's own.
  if (type === 'TimeoutError') return sent === undefined ? 'execution' : 'network';
  if (statusCode !== undefined) return 'api_error';
  if (code === 'unreachable') return 'network';
  // An incomplete response may be complete the next time; an invalid one is the API's fault.
  if (code === 'agent_failed') return retryable === false ? 'api_error' : 'network';
  return code === 'internal' ? 'unknown' : 'execution';
}
