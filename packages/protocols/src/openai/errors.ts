import { errorIn } from '../e2a/error-in.ts';
import { FAILURES, type Failure, type FailureCode } from '../failure.ts';
import type { JsonObject } from '../json.ts';

/** An error in OpenAI's shape, with the HTTP status it is sent with. */
export interface OpenAiError {
  readonly status: number;
  readonly error: JsonObject;
}

export function openAiErrorOf({ code, message, details }: Failure): OpenAiError {
  const { issues = [], suggestions = [] } = details;
  const [first] = issues;
  const status = FAILURES[code].http;
  const text = first === undefined || message.includes(first.message) ? message : `${message} ${first.message}.`;
  const hints = suggestions.length === 0 ? '' : ` (${suggestions.join('; ')})`;
  return {
    status,
    error: {
      message: `${text}${hints}`,
      type: typeOf(status),
      param: first === undefined || first.pointer === '' ? null : first.pointer.slice(1).replaceAll('/', '.'),
      code: CODES[code] ?? code,
    },
  };
}

/** The error in the body of a final frame. */
export function openAiErrorIn(body: JsonObject): OpenAiError {
  const { code, message } = body;
  const { failure } = errorIn(body);
  const status = failure === undefined ? 502 : FAILURES[failure].http;
  const text = typeof message === 'string' ? message : 'The agent failed.';
  const named = failure === undefined ? (typeof code === 'string' ? code : null) : (CODES[failure] ?? failure);
  return { status, error: { message: text, type: typeOf(status), param: null, code: named } };
}

function typeOf(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** Codes that OpenAI clients check. */
const CODES: Readonly<Partial<Record<FailureCode, string>>> = {
  unauthenticated: 'invalid_api_key',
  no_route: 'model_not_found',
  rate_limited: 'rate_limit_exceeded',
};
