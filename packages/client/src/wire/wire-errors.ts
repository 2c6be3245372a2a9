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

/** The host has said no to the handshake. With `server_error` it could not tell, and may another time. */
export function turnedDown(reason: string): DragomanError {
  return new DragomanError({
    code: reason === 'auth_failed' ? 'unauthenticated' : reason,
    message: `The host turned the handshake down: ${reason}.`,
    retryable: reason === 'server_error',
  });
}

/** The connection is gone, by us. */
export function lostError(): DragomanError {
  return new DragomanError({ code: 'closed', message: 'The connection was closed.' });
}

/** The host had it, or may have: that it cannot be reached now says nothing of what became of it. */
export function brokenError(type: string, cause: DragomanError, requestId: string): DragomanError {
  return new DragomanError({
    code: cause.code,
    message: `The connection broke before ${type} was answered; whether it was done is not known.`,
    retryable: cause.retryable,
    suggestions: ['ask again only for what may be done twice'],
    requestId,
    details: { outcome: 'unknown', reason: cause.message },
    cause,
  });
}

export function timeoutError(type: string, milliseconds: number): DragomanError {
  const message = `The host did not answer ${type} within ${milliseconds} ms.`;
  return new DragomanError({ code: 'timeout', message, retryable: true });
}
