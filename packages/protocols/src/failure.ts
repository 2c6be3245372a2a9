import type { Issue } from './outcome.ts';

/** Who must change something: the sender of the message, the agent or peer that answers it, or this server. */
export type Fault = 'sender' | 'agent' | 'server';

/** An error as data. A dialect words it for its protocol; code never matches on its text. */
export interface Failure {
  readonly code: FailureCode;
  readonly fault: Fault;
  readonly retryable: boolean;
  readonly message: string;
  readonly details: FailureDetails;
}

export interface FailureDetails {
  readonly issues?: readonly Issue[];
  readonly suggestions?: readonly string[];
  /** Seconds. */
  readonly retry_after?: number;
  readonly [name: string]: unknown;
}

/** A failure with the wording, fault and retry rule of its code. `message` replaces the table's sentence. */
export function failure(code: FailureCode, details: FailureDetails = {}, message?: string): Failure {
  const { fault, retryable, text } = FAILURES[code];
  return { code, fault, retryable, message: message ?? text, details };
}

/** The code of one failure in each protocol. */
export interface FailureRow {
  readonly fault: Fault;
  readonly retryable: boolean;
  readonly text: string;
  readonly http: number;
  readonly jsonrpc: number;
  /** A2A messages, `error.code`: the spec's eleven and the wider set its sibling documents use. */
  readonly a2a: string;
  /** A2E wire, `error` message `code`. */
  readonly wire: string;
  /** A2E workflows, `error.type`. */
  readonly workflow: string;
  /** E2A, `body.code` of `e2a.error`. */
  readonly e2a: string;
}

const sender = { fault: 'sender', retryable: false } as const;
const server = { fault: 'server', retryable: true } as const;
const agent = { fault: 'agent', retryable: true } as const;

/** Maps our failure codes to those of every protocol. */
// biome-ignore format: one row a code
export const FAILURES = {
  not_utf8: { ...sender, text: 'The message is not valid UTF-8.', http: 400, jsonrpc: -32700, a2a: 'INVALID_MESSAGE', wire: 'parse_error', workflow: 'ValidationError', e2a: 'E2A.INVALID_JSON' },
  not_json: { ...sender, text: 'The message is not valid JSON.', http: 400, jsonrpc: -32700, a2a: 'INVALID_MESSAGE', wire: 'parse_error', workflow: 'ValidationError', e2a: 'E2A.INVALID_JSON' },
  too_large: { ...sender, text: 'The message exceeds the size limit of this endpoint.', http: 413, jsonrpc: -32600, a2a: 'PAYLOAD_TOO_LARGE', wire: 'invalid_message', workflow: 'ValidationError', e2a: 'E2A.TOO_LARGE' },
  line_too_long: { ...sender, text: 'The line exceeds the length limit of this endpoint.', http: 413, jsonrpc: -32600, a2a: 'PAYLOAD_TOO_LARGE', wire: 'invalid_message', workflow: 'ValidationError', e2a: 'E2A.TOO_LARGE' },
  invalid_message: { ...sender, text: 'Invalid message.', http: 400, jsonrpc: -32602, a2a: 'VALIDATION_FAILED', wire: 'schema_violation', workflow: 'ValidationError', e2a: 'E2A.INVALID_MESSAGE' },
  unknown_type: { ...sender, text: 'Unknown message type.', http: 400, jsonrpc: -32601, a2a: 'INVALID_MESSAGE', wire: 'unknown_type', workflow: 'ValidationError', e2a: 'E2A.UNKNOWN_METHOD' },
  unknown_method: { ...sender, text: 'Unknown method.', http: 404, jsonrpc: -32601, a2a: 'METHOD_NOT_ALLOWED', wire: 'not_found', workflow: 'ValidationError', e2a: 'E2A.UNKNOWN_METHOD' },
  version_mismatch: { ...sender, text: 'No common protocol version.', http: 505, jsonrpc: -32600, a2a: 'VERSION_NOT_SUPPORTED', wire: 'version_mismatch', workflow: 'ValidationError', e2a: 'E2A.VERSION_NOT_SUPPORTED' },
  unauthenticated: { ...sender, text: 'Authentication required.', http: 401, jsonrpc: -32001, a2a: 'AUTHENTICATION_FAILED', wire: 'unauthorized', workflow: 'PermissionError', e2a: 'E2A.UNAUTHENTICATED' },
  forbidden: { ...sender, text: 'Permission denied.', http: 403, jsonrpc: -32003, a2a: 'FORBIDDEN', wire: 'unauthorized', workflow: 'PermissionError', e2a: 'E2A.FORBIDDEN' },
  not_found: { ...sender, text: 'Not found.', http: 404, jsonrpc: -32004, a2a: 'NOT_FOUND', wire: 'not_found', workflow: 'DataError', e2a: 'E2A.NOT_FOUND' },
  no_route: { ...sender, text: 'Unknown agent.', http: 404, jsonrpc: -32004, a2a: 'AGENT_NOT_REGISTERED', wire: 'not_found', workflow: 'ValidationError', e2a: 'E2A.NO_ROUTE' },
  conflict: { ...sender, text: 'The request conflicts with the current state.', http: 409, jsonrpc: -32009, a2a: 'CONFLICT', wire: 'invalid_message', workflow: 'ValidationError', e2a: 'E2A.CONFLICT' },
  nonce_reused: { ...sender, text: 'The nonce has already been used.', http: 409, jsonrpc: -32009, a2a: 'NONCE_REUSED', wire: 'unauthorized', workflow: 'PermissionError', e2a: 'E2A.CONFLICT' },
  expired: { ...sender, text: 'The message expired before it could be answered.', http: 410, jsonrpc: -32010, a2a: 'TIMEOUT', wire: 'timeout', workflow: 'TimeoutError', e2a: 'E2A.EXPIRED' },
  unsupported_media_type: { ...sender, text: 'Unsupported content type.', http: 415, jsonrpc: -32600, a2a: 'UNSUPPORTED_MEDIA_TYPE', wire: 'invalid_message', workflow: 'ValidationError', e2a: 'E2A.INVALID_MESSAGE' },
  method_not_allowed: { ...sender, text: 'HTTP method not allowed.', http: 405, jsonrpc: -32601, a2a: 'METHOD_NOT_ALLOWED', wire: 'not_found', workflow: 'ValidationError', e2a: 'E2A.UNKNOWN_METHOD' },
  rate_limited: { fault: 'sender', retryable: true, text: 'Rate limit exceeded.', http: 429, jsonrpc: -32029, a2a: 'RATE_LIMIT_EXCEEDED', wire: 'rate_limited', workflow: 'ExecutionError', e2a: 'E2A.RATE_LIMITED' },
  busy: { ...server, text: 'The server is busy.', http: 503, jsonrpc: -32050, a2a: 'AGENT_OVERLOADED', wire: 'busy', workflow: 'ExecutionError', e2a: 'E2A.BUSY' },
  capability_missing: { ...sender, text: 'Capability not supported.', http: 501, jsonrpc: -32601, a2a: 'NOT_IMPLEMENTED', wire: 'capability_missing', workflow: 'ValidationError', e2a: 'E2A.NOT_IMPLEMENTED' },
  timeout: { ...agent, text: 'The request timed out.', http: 504, jsonrpc: -32051, a2a: 'TIMEOUT', wire: 'timeout', workflow: 'TimeoutError', e2a: 'E2A.TIMEOUT' },
  cancelled: { ...sender, text: 'The request was cancelled.', http: 409, jsonrpc: -32800, a2a: 'STATE_CONFLICT', wire: 'runtime_error', workflow: 'ExecutionError', e2a: 'E2A.CANCELLED' },
  interrupted: { ...server, text: 'The server stopped while the request was running.', http: 503, jsonrpc: -32052, a2a: 'SERVICE_UNAVAILABLE', wire: 'runtime_error', workflow: 'ExecutionError', e2a: 'E2A.INTERRUPTED' },
  agent_failed: { ...agent, text: 'The agent failed.', http: 502, jsonrpc: -32603, a2a: 'DEPENDENCY_FAILED', wire: 'runtime_error', workflow: 'ExecutionError', e2a: 'E2A.AGENT_ERROR' },
  unreachable: { ...agent, text: 'The remote host is unreachable.', http: 502, jsonrpc: -32603, a2a: 'DEPENDENCY_FAILED', wire: 'runtime_error', workflow: 'ExecutionError', e2a: 'E2A.AGENT_ERROR' },
  tool_failed: { ...agent, text: 'The tool failed.', http: 502, jsonrpc: -32603, a2a: 'DEPENDENCY_FAILED', wire: 'tool_error', workflow: 'ExecutionError', e2a: 'E2A.TOOL_ERROR' },
  store_unavailable: { ...server, text: 'The storage of the server is temporarily unavailable.', http: 503, jsonrpc: -32053, a2a: 'SERVICE_UNAVAILABLE', wire: 'internal_error', workflow: 'ExecutionError', e2a: 'E2A.UNAVAILABLE' },
  internal: { ...server, text: 'Internal error.', http: 500, jsonrpc: -32603, a2a: 'INTERNAL_ERROR', wire: 'internal_error', workflow: 'ExecutionError', e2a: 'E2A.INTERNAL_ERROR' },
  store_damaged: { fault: 'server', retryable: false, text: 'A record that this request needs is damaged in the storage of the server.', http: 500, jsonrpc: -32603, a2a: 'INTERNAL_ERROR', wire: 'internal_error', workflow: 'ExecutionError', e2a: 'E2A.INTERNAL_ERROR' },
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof FAILURES;
