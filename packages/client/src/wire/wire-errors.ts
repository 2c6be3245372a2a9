import { isObject } from '@dragoman/protocols';
import { WIRE_VERSION, type WireMessage } from '@dragoman/protocols/a2e-wire';
import { DragomanError, issuesIn, textsIn } from '../dragoman-error.ts';

/** The error of an `error` message. */
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

/** What was sent in the handshake, for errors. */
export interface Greeting {
  readonly hasKey: boolean;
  readonly capabilities: readonly string[];
}

/** The error for a refused handshake. After `server_error`, the host could not decide and a retry may succeed. */
export function turnedDown(reason: string, greeting: Greeting): DragomanError {
  const { why, suggestions } = REASONS[reason]?.(greeting) ?? { why: '', suggestions: [] };
  return new DragomanError({
    code: reason === 'auth_failed' ? 'unauthenticated' : reason,
    message: `The host rejected the handshake: ${reason}${why === '' ? '' : `, ${why}`}.`,
    retryable: reason === 'server_error',
    suggestions,
  });
}

type Explained = (greeting: Greeting) => { readonly why: string; readonly suggestions: readonly string[] };

/** What a code means and how to fix it, by the request: hosts send only the code. */
const REASONS: Readonly<Record<string, Explained | undefined>> = {
  auth_failed: ({ hasKey }) =>
    hasKey
      ? {
          why: 'the key is unknown or revoked',
          suggestions: ['pass a key of this host; an administrator can create one: dragoman keys create --agent AGENT'],
        }
      : {
          why: 'and no key was passed',
          suggestions: ['pass the API key of an agent: connectWire({ transport, key })'],
        },
  no_caps: ({ capabilities }) => ({
    why: `it has none of ${capabilities.join(', ')}`,
    suggestions: ['leave out capabilities to request all that the host has'],
  }),
  version_mismatch: () => ({
    why: `it does not speak A2E wire ${WIRE_VERSION}`,
    suggestions: ['check that the host is an A2E wire of the same major version'],
  }),
  server_error: () => ({ why: 'it could not verify the caller at the moment', suggestions: ['try again later'] }),
};

/** The error after this side has closed the connection. */
export function lostError(): DragomanError {
  return new DragomanError({ code: 'closed', message: 'The connection was closed.' });
}

/** The error for a lost connection. The host may have received the request, so its outcome is unknown. */
export function brokenError(type: string, cause: DragomanError, requestId: string): DragomanError {
  return new DragomanError({
    code: cause.code,
    message: `The connection was lost before ${type} was answered; its outcome is unknown.`,
    retryable: cause.retryable,
    suggestions: ['repeat the request only if running it twice does no harm'],
    requestId,
    details: { outcome: 'unknown', reason: cause.message },
    cause,
  });
}

export function timeoutError(type: string, milliseconds: number): DragomanError {
  const message = `The host did not answer ${type} within ${milliseconds} ms.`;
  return new DragomanError({ code: 'timeout', message, retryable: true });
}
