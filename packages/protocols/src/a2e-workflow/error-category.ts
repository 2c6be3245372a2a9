import type { WorkflowError } from './message.ts';

/**
 * The error with the word that the reference implementation sorts errors by, beside the spec's type: the types do not tell an
 * API that answered with an error from one that could not be reached.
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
  // Only of a call is it known whether it was sent; an execution that is out of time may have been anywhere.
  if (type === 'TimeoutError') return sent === undefined ? 'execution' : 'network';
  if (statusCode !== undefined) return 'api_error';
  if (code === 'unreachable') return 'network';
  // An answer that broke off may come whole the next time; one that is no good is the API's.
  if (code === 'agent_failed') return retryable === false ? 'api_error' : 'network';
  return code === 'internal' ? 'unknown' : 'execution';
}
