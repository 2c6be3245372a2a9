import { FAILURES, type Failure } from '../failure.ts';
import type { JsonObject } from '../json.ts';

/** The errors that A2A defines for itself (specification 1.0.1 §5.4). */
export const A2A_ERRORS = {
  TaskNotFound: { code: -32001, http: 404, status: 'NOT_FOUND' },
  TaskNotCancelable: { code: -32002, http: 400, status: 'FAILED_PRECONDITION' },
  PushNotificationNotSupported: { code: -32003, http: 400, status: 'FAILED_PRECONDITION' },
  UnsupportedOperation: { code: -32004, http: 400, status: 'FAILED_PRECONDITION' },
  ContentTypeNotSupported: { code: -32005, http: 400, status: 'INVALID_ARGUMENT' },
  InvalidAgentResponse: { code: -32006, http: 500, status: 'INTERNAL' },
  ExtendedAgentCardNotConfigured: { code: -32007, http: 400, status: 'FAILED_PRECONDITION' },
  ExtensionSupportRequired: { code: -32008, http: 400, status: 'FAILED_PRECONDITION' },
  VersionNotSupported: { code: -32009, http: 400, status: 'FAILED_PRECONDITION' },
} as const;
export type A2aErrorName = keyof typeof A2A_ERRORS;

/** An error, before a binding words it. */
export interface A2aError {
  readonly code: number;
  readonly http: number;
  /** The name of the gRPC status, which HTTP+JSON repeats. */
  readonly status: string;
  readonly message: string;
  /** Objects of `google.rpc`: ErrorInfo always, BadRequest and RetryInfo where they apply. */
  readonly details: readonly JsonObject[];
}

export function a2aError(name: A2aErrorName, message: string): A2aError {
  return { ...A2A_ERRORS[name], message, details: [errorInfo(reasonOf(name))] };
}

/** A failure in A2A's terms. Failures without an A2A error keep their code as the reason. */
export function a2aErrorOf({ code: ours, message, details }: Failure): A2aError {
  const row = FAILURES[ours];
  const { issues = [], suggestions = [], retry_after: retryAfter } = details;
  const code = CODES.has(row.jsonrpc) ? row.jsonrpc : -32603;
  const violations = issues.map(({ pointer, message: description }) => ({ field: fieldOf(pointer), description }));
  return {
    code,
    http: row.http,
    status: STATUSES[row.http] ?? 'INTERNAL',
    message: suggestions.length === 0 ? message : `${message} ${suggestions.join(' ')}`,
    details: [
      errorInfo(ours.toUpperCase()),
      ...(violations.length === 0 ? [] : [{ '@type': `${TYPES}BadRequest`, fieldViolations: violations }]),
      ...(retryAfter === undefined ? [] : [{ '@type': `${TYPES}RetryInfo`, retryDelay: `${Math.ceil(retryAfter)}s` }]),
    ],
  };
}

function errorInfo(reason: string): JsonObject {
  return { '@type': `${TYPES}ErrorInfo`, reason, domain: 'a2a-protocol.org' };
}

/** `TaskNotFound` → `TASK_NOT_FOUND`. */
function reasonOf(name: A2aErrorName): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/** `/message/parts/0` → `message.parts[0]`, as `google.rpc.BadRequest` writes a field. */
function fieldOf(pointer: string): string {
  return pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.');
}

const TYPES = 'type.googleapis.com/google.rpc.';

/** JSON-RPC's reserved codes are valid in A2A; our additional ones are not. */
const CODES: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602]);

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
