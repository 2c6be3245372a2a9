import type { Json, NewQuestion, Question, QuestionAnswer, QuestionEnd } from '@dragoman/protocols';
import type { CredentialUse } from '../secrets/credential-use.ts';
import type { Label } from './label.ts';

/**
 * The effects of a running workflow. Everything else is pure and can be repeated: after a crash the plan runs from the
 * start, and each recorded effect returns its recorded answer.
 *
 * `key` is the same in every run of the same plan: the operation's id and, inside loops, the index of each item
 * (`call[3]`, `call[3][0]`). `digest` stands for everything computed before the effect, and is the same in every run,
 * too. Values that may be large are bytes, so that they can pass between threads and into a journal unparsed. An effect
 * that fails rejects with `Refused`.
 */
export interface Effects {
  call(key: string, request: ApiRequest, digest: string): Promise<ApiAnswer>;
  /** Calls a target of the hub. Resolves with the result as JSON text. */
  ask(key: string, request: TargetRequest, digest: string): Promise<Uint8Array>;
  store(key: string, write: StoreWrite, digest: string): Promise<void>;
  /** Resolves when the time is over, even if the process was restarted in between. */
  wait(key: string, milliseconds: number, digest: string): Promise<void>;
  /** The answer of a person, including after days and restarts. */
  approve(key: string, request: ApprovalRequest, digest: string): Promise<QuestionAnswer>;
  /** The time, the same in every run. Epoch milliseconds. */
  now(key: string, digest: string): Promise<number>;
  /** The caller's stored data at the start of this execution. */
  stored(key: string, name: string): Promise<StoredValue | undefined>;
}

/** The request of an ApiCall, with all references filled in except those to credentials. */
export interface ApiRequest {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly url: string;
  readonly query: readonly (readonly [name: string, value: string | CredentialUse])[];
  readonly headers: Readonly<Record<string, string | CredentialUse>>;
  /** Bytes, unless a secret goes into it: then a JSON value whose members may be a `CredentialUse`. */
  readonly body: { readonly bytes: Uint8Array } | { readonly json: unknown } | undefined;
  /** The caller declares that a repeat has no second effect. */
  readonly idempotencyKey: string | undefined;
  /** The caller declares the same, without a key. */
  readonly idempotent?: true;
  /** At most the time that the execution has left. */
  readonly timeoutMs: number;
  /** The labels of all data in the request. */
  readonly carries: readonly Label[];
}

/** A call of an agent, a tool or a stored workflow. */
export interface TargetRequest {
  readonly operationId: string;
  readonly target: string;
  readonly method: string;
  /** JSON text of an object. */
  readonly params: Uint8Array;
  readonly timeoutMs: number;
  /** The labels of the data in the parameters. */
  readonly carries: readonly Label[];
}

export interface ApprovalRequest {
  readonly operationId: string;
  readonly question: NewQuestion;
}

export interface ApiAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
  /** Identifies the answer: a cached answer keeps it, a fetched one gets a new one. Without it the bytes are hashed. */
  readonly lineage?: string;
  /** The labels of the answer, if a credential fetched it. */
  readonly labels?: readonly Label[];
  /** The result of an earlier call; this one was not made. */
  readonly cached?: true;
  /** The request, if the answer is not a success. */
  readonly sent?: SentCall;
}

/** The details of a request that an error reports. */
export interface SentCall {
  /** Without secrets. */
  readonly url: string;
  readonly attempts: number;
  /** The API's `Retry-After` in seconds, if the execution has less time left. */
  readonly retry_after?: number;
}

export interface StoreWrite {
  readonly operationId: string;
  readonly storage: 'localStorage' | 'sessionStorage' | 'file';
  readonly key: string;
  /** JSON text. */
  readonly json: Uint8Array;
  /** The labels of the data. */
  readonly carries: readonly Label[];
}

export interface StoredValue {
  /** JSON text. */
  readonly bytes: Uint8Array;
  readonly labels: readonly Label[];
}

/** The events of a running workflow, in order. */
export type Progress =
  | { readonly event: 'operation-started'; readonly operationId: string; readonly key: string }
  | {
      readonly event: 'operation-finished';
      readonly operationId: string;
      readonly key: string;
      readonly status: 'success' | 'error' | 'skipped';
      readonly milliseconds: number;
      /** The result is from the cache. */
      readonly cached?: true;
      /** The URL of the call that failed, without secrets. */
      readonly url?: string;
      /** The result, if it is short. */
      readonly value?: Json;
    }
  | {
      readonly event: 'question-asked';
      readonly operationId: string;
      readonly key: string;
      readonly question: Question;
    }
  | {
      readonly event: 'question-resolved';
      readonly operationId: string;
      readonly key: string;
      readonly end: QuestionEnd;
    };
