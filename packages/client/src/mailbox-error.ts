import { FAILURES, type FailureCode, type JsonObject } from '@dragoman/protocols';
import { DragomanError, textsIn } from './dragoman-error.ts';

/** The error in the mailbox's format, `{error, errors?, message?, retryAfter?}`; `undefined` for any other body. */
export function mailboxErrorOf(
  json: JsonObject,
  status: number,
  retryAfter: number | undefined,
): DragomanError | undefined {
  const { error, message, errors, timestamp, retryAfter: given } = json;
  if (typeof error !== 'string' || typeof timestamp !== 'string') return undefined;
  const texts = textsIn(errors);
  const code = CODES[status] ?? 'internal';
  return new DragomanError({
    code,
    message: typeof message === 'string' ? message : [error, ...texts].join('; '),
    status,
    retryable: FAILURES[code].retryable,
    // The mailbox reports its issues as sentences.
    issues: texts.map((text) => ({ pointer: '', code: 'invalid', message: text })),
    retryAfter: retryAfter ?? (typeof given === 'number' ? given : undefined),
  });
}

const CODES: Readonly<Record<number, FailureCode>> = {
  400: 'invalid_message',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  410: 'expired',
  413: 'too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  503: 'busy',
};
