import { errorIn } from '../e2a/error-in.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { FAILURES, type Failure, type FailureCode } from '../failure.ts';
import { isObject, type JsonObject } from '../json.ts';
import { JSON_RPC_CODES } from '../jsonrpc/message.ts';

/** A failure as the error of a JSON-RPC response, with the codes that ACP clients know. */
export function acpError({ code, message, details, retryable }: Failure): JsonObject {
  const { retry_after, issues, suggestions } = details;
  return {
    code: ACP_CODES[code] ?? JSON_RPC_CODES.internal_error,
    message,
    data: {
      e2a_code: FAILURES[code].e2a,
      retryable,
      ...(retry_after !== undefined && { retry_after }),
      ...(issues !== undefined && { issues: issues.map((issue) => ({ ...issue })) }),
      ...(suggestions !== undefined && { suggestions: [...suggestions] }),
    } as JsonObject,
  };
}

/** The last frame of a failed answer as the error of a JSON-RPC response. */
export function acpErrorOfFrame({ body }: E2AResponse, requestId: string): JsonObject {
  const { code, message, details } = body;
  const { failure, retryable = false } = errorIn(body);
  const more = isObject(details) ? details : {};
  return {
    code: (failure && ACP_CODES[failure]) ?? JSON_RPC_CODES.internal_error,
    message: typeof message === 'string' ? message : 'The agent failed.',
    data: {
      ...more,
      ...(code !== undefined && { e2a_code: code }),
      request_id: requestId,
      retryable,
    },
  };
}

/** ACP's own numbers. Everything else is an internal error. */
const ACP_CODES: Readonly<Partial<Record<FailureCode, number>>> = {
  not_json: -32700,
  not_utf8: -32700,
  invalid_message: -32602,
  unknown_method: -32601,
  unauthenticated: -32000,
  forbidden: -32000,
  not_found: -32002,
  no_route: -32002,
  conflict: -32600,
  cancelled: -32800,
};
