import { FAILURES, type Failure, type FailureCode } from '../failure.ts';
import type { MailboxError } from './message.ts';
import { errorTexts } from './validate.ts';

/**
 * A failure in the mailbox's words (A2A mailbox, Error Handling). The edge takes the HTTP status from the same row of
 * `FAILURES`.
 */
export function errorBody({ code, message, details }: Failure, now: Date): MailboxError {
  const { http } = FAILURES[code];
  const timestamp = now.toISOString();
  if (http === 400) {
    const { issues = [] } = details;
    return { error: TITLES[http], errors: issues.length > 0 ? errorTexts(issues) : [message], timestamp };
  }
  const { retry_after: retryAfter, suggestions = [] } = details;
  const text = [message, ...suggestions.map(asSentence)].join(' ');
  return { error: TITLES[http], message: text, ...(retryAfter !== undefined && { retryAfter }), timestamp };
}

/** The error body has no field for suggestions, so they follow the message. */
function asSentence(suggestion: string): string {
  const capital = suggestion.charAt(0).toUpperCase() + suggestion.slice(1);
  return /[.?!]$/.test(capital) ? capital : `${capital}.`;
}

// The spec lists 200, 400, 429 and 500; the others have the same shape.
const TITLES = {
  400: 'Invalid message format',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  410: 'Message already expired',
  413: 'Message too large',
  415: 'Unsupported content type',
  429: 'Rate limit exceeded',
  500: 'Internal server error',
  501: 'Not implemented',
  502: 'Agent failed',
  503: 'Service unavailable',
  504: 'Agent timed out',
  505: 'Version not supported',
} as const satisfies Record<(typeof FAILURES)[FailureCode]['http'], string>;
