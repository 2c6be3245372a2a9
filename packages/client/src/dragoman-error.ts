import {
  type E2AResponse,
  FAILURES,
  type FailureCode,
  type Issue,
  isObject,
  type Json,
  type JsonObject,
} from '@dragoman/protocols';

/**
 * Every error of a request: a refusal of the server, an error of an agent, a server that cannot be reached. Match on
 * `code`, never on the message.
 */
export class DragomanError extends Error {
  override readonly name = 'DragomanError';
  /** The code as received: `rate_limited` in a problem document, `E2A.CANCELLED` or an agent's own code in a frame. */
  readonly code: string;
  /** The HTTP status, when there was one. */
  readonly status: number | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly issues: readonly Issue[];
  /** Suggested fixes: those of the answer, or of its issues. */
  readonly suggestions: readonly string[];
  /** Seconds to wait before the next try, if the server sent them. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  /** Further details, such as an agent's own. */
  readonly details: JsonObject;

  constructor(parts: DragomanErrorParts) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = parts.code;
    this.status = parts.status;
    this.retryable = parts.retryable ?? false;
    this.issues = parts.issues ?? [];
    this.suggestions = parts.suggestions?.length ? parts.suggestions : suggestedBy(this.issues);
    this.retryAfter = parts.retryAfter;
    this.requestId = parts.requestId;
    this.details = parts.details ?? {};
  }

  /** Whether the error has this code, in either spelling: `error.is('cancelled')` is also true for `E2A.CANCELLED`. */
  is(code: FailureCode): boolean {
    return this.code === code || this.code === FAILURES[code].e2a;
  }
}

function suggestedBy(issues: readonly Issue[]): string[] {
  return [...new Set(issues.flatMap(({ suggestion }) => suggestion ?? []))];
}

export interface DragomanErrorParts {
  readonly code: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly retryable?: boolean;
  readonly issues?: readonly Issue[];
  readonly suggestions?: readonly string[];
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/** The error of a final frame. */
export function errorOfFrame({ body, request_id }: E2AResponse): DragomanError {
  const details = isObject(body['details']) ? body['details'] : {};
  const code = typeof body['code'] === 'string' || typeof body['code'] === 'number' ? String(body['code']) : 'failed';
  return new DragomanError({
    code,
    message: typeof body['message'] === 'string' ? body['message'] : 'The request failed.',
    retryable: details['retryable'] === true,
    issues: issuesIn(details['issues']),
    suggestions: textsIn(details['suggestions']),
    retryAfter: typeof details['retry_after'] === 'number' ? details['retry_after'] : undefined,
    requestId: request_id ?? undefined,
    details,
  });
}

/** Whether a failure of this code may be temporary; `undefined` for an unknown code. */
export function isRetryable(code: string): boolean | undefined {
  return Object.hasOwn(FAILURES, code) ? FAILURES[code as FailureCode].retryable : undefined;
}

export function issuesIn(json: Json | undefined): Issue[] {
  if (!Array.isArray(json)) return [];
  return json.filter(isObject).map((item) => ({
    ...(typeof item['suggestion'] === 'string' && { suggestion: item['suggestion'] }),
    ...(typeof item['offset'] === 'number' && { offset: item['offset'] }),
    pointer: String(item['pointer'] ?? ''),
    code: String(item['code'] ?? ''),
    message: String(item['message'] ?? ''),
  }));
}

export function textsIn(json: Json | undefined): string[] {
  return Array.isArray(json) ? json.filter((item) => typeof item === 'string') : [];
}
