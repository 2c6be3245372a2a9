import { type Failure, failure, isObject, type Json, type JsonObject, redacted } from '@dragoman/protocols';
import { A2A_ERRORS } from '@dragoman/protocols/lf-a2a';

export type PeerErrorKind =
  | 'task_not_found'
  /** The agent does not know the operation, version or binding; another one may work. Nothing was done. */
  | 'not_understood'
  | 'not_cancelable'
  | 'unauthenticated'
  | 'forbidden'
  | 'later'
  | 'other';

/** An error that a remote agent answered with. */
export interface PeerError {
  readonly kind: PeerErrorKind;
  readonly message: string;
  /** JSON-RPC or A2A code, if there is one. */
  readonly code: number | undefined;
  readonly httpStatus: number;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
}

/** The error in the JSON of an answer, if there is one. */
export function readPeerError(json: Json, httpStatus: number): PeerError | undefined {
  if (!isObject(json)) return undefined;
  const error = isObject(json['error']) ? json['error'] : httpStatus >= 400 ? json : undefined;
  if (error === undefined)
    return typeof json['error'] === 'string' ? peerError(json['error'], { httpStatus }) : undefined;
  const { code, message, detail, title } = error;
  const words = [message, detail, title, json['error_description']].find((text) => typeof text === 'string');
  const number = typeof code === 'number' && code < 0 ? code : codeOfReason(error);
  return peerError(typeof words === 'string' ? words : '', { code: number, httpStatus });
}

/** An error with its kind. HTTP 401, 403, 429 and 503 decide it; else the code, the message, then any other status. */
export function peerError(
  words: string,
  { code, httpStatus, retryAfter }: { code?: number | undefined; httpStatus: number; retryAfter?: number | undefined },
): PeerError {
  const message = String(redacted(words.slice(0, MOST_WORDS)));
  const kind =
    byStatusOfCaller(httpStatus) ?? byCode(code) ?? byWords(message, code) ?? byStatus(httpStatus) ?? 'other';
  return { kind, message, code, httpStatus, retryAfter };
}

/** The failure that the caller receives. */
export function failureOfPeer({ kind, message, code, httpStatus, retryAfter }: PeerError): Failure {
  const what = SENTENCES[kind] ?? 'The remote agent answered with an error';
  const reason = message === '' ? (httpStatus >= 300 ? `HTTP status ${httpStatus}` : 'no reason given') : message;
  const details = {
    status: httpStatus,
    ...(code !== undefined && { a2a_code: code }),
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
    ...(kind === 'unauthenticated' && { suggestions: [CREDENTIAL_HELP] }),
  };
  const text = `${what}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
  return { ...failure('agent_failed', details, text), retryable: kind === 'later' };
}

/** These statuses come from a proxy or from the server's access control, so they count before the body. */
function byStatusOfCaller(status: number): PeerErrorKind | undefined {
  if (status === 401) return 'unauthenticated';
  if (status === 403) return 'forbidden';
  return status === 429 || status === 503 ? 'later' : undefined;
}

function byCode(code: number | undefined): PeerErrorKind | undefined {
  return code === undefined ? undefined : CODES.get(code);
}

/** Servers of 0.3 use -32602 and -32603 where 1.0 has specific codes; some servers send no code. */
function byWords(words: string, code: number | undefined): PeerErrorKind | undefined {
  if (code !== undefined && !VAGUE.has(code)) return undefined;
  return WORDS.find(([pattern]) => pattern.test(words))?.[1];
}

function byStatus(status: number): PeerErrorKind | undefined {
  if (NOT_UNDERSTOOD.has(status)) return 'not_understood';
  return status >= 500 ? 'later' : undefined;
}

/** `google.rpc.ErrorInfo` names the error of HTTP+JSON, whose code is an HTTP status. */
function codeOfReason(error: JsonObject): number | undefined {
  const details = [error['details'], error['data']].flatMap((list) => (Array.isArray(list) ? list : []));
  const reason = details
    .map((detail) => (isObject(detail) ? detail['reason'] : undefined))
    .find((one) => one !== undefined);
  if (typeof reason !== 'string') return undefined;
  const name = reason
    .replace(/_ERROR$/, '')
    .replaceAll('_', '')
    .toLowerCase();
  return Object.entries(A2A_ERRORS).find(([known]) => known.toLowerCase() === name)?.[1].code;
}

const { TaskNotFound, TaskNotCancelable, UnsupportedOperation, VersionNotSupported } = A2A_ERRORS;
const CODES: ReadonlyMap<number, PeerErrorKind> = new Map([
  [TaskNotFound.code, 'task_not_found'],
  [TaskNotCancelable.code, 'not_cancelable'],
  [UnsupportedOperation.code, 'not_understood'],
  [VersionNotSupported.code, 'not_understood'],
  [-32601, 'not_understood'],
]);
/** Invalid request, invalid params and internal error: servers use these codes for nearly every problem. */
const VAGUE: ReadonlySet<number> = new Set([-32600, -32602, -32603, -32000]);
const WORDS: readonly (readonly [RegExp, PeerErrorKind])[] = [
  [/task\b.*\bnot (?:be )?found|(?:no such|unknown) task|task\b.*does not exist/i, 'task_not_found'],
  [/not cancel+able|cannot be cancel+ed/i, 'not_cancelable'],
  [
    /method not found|not implemented|unsupported (?:operation|version|method)|version\b.*not supported/i,
    'not_understood',
  ],
  [/does(?: not|n't) support|not supported/i, 'not_understood'],
  [/rate limit|too many requests|overloaded|try again later/i, 'later'],
];
const NOT_UNDERSTOOD: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 501]);
const SENTENCES: Readonly<Partial<Record<PeerErrorKind, string>>> = {
  unauthenticated: 'The remote agent did not accept the credential',
  forbidden: 'The remote agent refused access',
  later: 'The remote agent cannot answer at the moment',
  not_understood: 'The remote agent does not understand the request',
};
const CREDENTIAL_HELP =
  'Store the credential in the vault, bound to the host of the agent, and name it in `credential` of the agent.';
const MOST_WORDS = 1000;
