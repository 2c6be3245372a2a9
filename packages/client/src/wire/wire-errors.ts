import { isObject } from '@dragoman/protocols';
import type { WireMessage } from '@dragoman/protocols/a2e-wire';
import { DragomanError, issuesIn, textsIn } from '../dragoman-error.ts';

/** The error an `error` message tells of. */
export function errorOfMessage(message: WireMessage, requestId: string): DragomanError {
  const detail = isObject(message['detail']) ? message['detail'] : {};
  return new DragomanError({
    code: String(message['code']),
    message: String(message['message'] ?? ''),
    retryable: message['retryable'] === true,
    issues: issuesIn(detail['issues']),
    suggestions: textsIn(detail['suggestions']),
    retryAfter: typeof detail['retry_after'] === 'number' ? detail['retry_after'] : undefined,
    requestId,
    details: detail,
  });
}

/** The connection is gone, by us. */
export function lostError(): DragomanError {
  return new DragomanError({ code: 'closed', message: 'The connection was closed.' });
}

export function timeoutError(type: string, milliseconds: number): DragomanError {
  const message = `The host did not answer ${type} within ${milliseconds} ms.`;
  return new DragomanError({ code: 'timeout', message, retryable: true });
}
