import type { Json } from '@dragoman/protocols';
import type { CredentialUse } from '../gate/gate.ts';

/**
 * What a running workflow asks of the world. Everything else it does is pure and can be done again: after a crash the plan
 * runs from the start, and these answer from the journal what they answered before. Each effect has a key that is the same
 * in every run of the same plan: the operation's id and, inside loops, the index of each item (`call[3]`, `call[3][0]`).
 * An effect that fails rejects with `Refused`.
 */
export interface Effects {
  call(key: string, request: ApiRequest): Promise<ApiAnswer>;
  store(key: string, write: StoreWrite): Promise<void>;
  /** Resolves when the time is over, also when the process was started again in between. */
  wait(key: string, milliseconds: number): Promise<void>;
  /** The time, the same in every run. Epoch milliseconds. */
  now(key: string): Promise<number>;
  /** What earlier executions of the caller stored, as it was when this execution started. */
  stored(key: string, name: string): Promise<Json | undefined>;
}

/** An ApiCall with every reference but the credentials' resolved. */
export interface ApiRequest {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly url: string;
  readonly query: readonly (readonly [name: string, value: string | CredentialUse])[];
  readonly headers: Readonly<Record<string, string | CredentialUse>>;
  /** May hold a `CredentialUse` at any depth. */
  readonly body: unknown;
  readonly timeoutMs: number;
}

export interface ApiAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
}

export interface StoreWrite {
  readonly operationId: string;
  readonly storage: 'localStorage' | 'sessionStorage' | 'file';
  readonly key: string;
  readonly value: Json;
}

/** What is told while a workflow runs, in order. */
export type Progress =
  | { readonly event: 'operation-started'; readonly operationId: string; readonly key: string }
  | {
      readonly event: 'operation-finished';
      readonly operationId: string;
      readonly key: string;
      readonly status: 'success' | 'error' | 'skipped';
      readonly milliseconds: number;
    };
