import type { Failure } from '@dragoman/protocols';
import type { Workflow } from '@dragoman/protocols/a2e-workflow';
import type { Budgets } from './budget.ts';
import type { ApiRequest, ApprovalRequest, Progress, StoreWrite, TargetRequest } from './effects.ts';
import type { RunResult } from './run.ts';

// The messages between the main thread and a worker, in batches. Large values are sent as bytes.

export interface WorkerSetup {
  /** Modules whose operations are added to the built-in ones. */
  readonly operations: readonly string[];
  readonly cacheBytes: number;
  /** One number: the run that computed last, to find the run that blocks the thread. */
  readonly busy: SharedArrayBuffer;
}

/** The exit code of a thread that would exceed its memory. */
export const OUT_OF_MEMORY = 12;

export type ToWorker =
  | { readonly kind: 'run'; readonly run: number; readonly request: RunRequest }
  | { readonly kind: 'answer'; readonly run: number; readonly ask: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly run: number; readonly ask: number; readonly failure: Failure }
  | { readonly kind: 'abort'; readonly run: number; readonly failure: Failure }
  | { readonly kind: 'forget'; readonly caller: string | undefined };

export interface RunRequest {
  readonly planHash: string;
  /** Absent if this worker has compiled the plan before. */
  readonly workflow: Workflow | undefined;
  readonly timeoutMs: number;
  readonly budgets: Partial<Budgets>;
  readonly onError: 'stop' | 'continue';
  readonly tellsProgress: boolean;
  /** The owner of the cache; `undefined` for none. */
  readonly caller: string | undefined;
}

export type FromWorker =
  | { readonly kind: 'ask'; readonly run: number; readonly ask: number; readonly effect: EffectRequest }
  | { readonly kind: 'progress'; readonly run: number; readonly progress: Progress }
  | { readonly kind: 'end'; readonly run: number; readonly result: PortedResult };

export type EffectRequest =
  | { readonly name: 'call'; readonly key: string; readonly request: PortedRequest; readonly digest: string }
  | { readonly name: 'ask'; readonly key: string; readonly request: TargetRequest; readonly digest: string }
  | { readonly name: 'store'; readonly key: string; readonly write: StoreWrite; readonly digest: string }
  | { readonly name: 'wait'; readonly key: string; readonly milliseconds: number; readonly digest: string }
  | { readonly name: 'approve'; readonly key: string; readonly request: ApprovalRequest; readonly digest: string }
  | { readonly name: 'now'; readonly key: string; readonly digest: string }
  | { readonly name: 'stored'; readonly key: string; readonly of: string };

/** A request in which each `CredentialUse` is plain data, because class instances cannot be sent to another thread. */
export interface PortedRequest extends Omit<ApiRequest, 'query' | 'headers' | 'body'> {
  readonly query: readonly (readonly [name: string, value: PortedValue])[];
  readonly headers: readonly (readonly [name: string, value: PortedValue])[];
  readonly body:
    | { readonly bytes: Uint8Array }
    | { readonly json: Uint8Array; readonly credentials: readonly (readonly [member: string, id: string])[] }
    | undefined;
}

export type PortedValue = string | { readonly credential: string };

/** As `RunResult`, with the results as the JSON text of one object; as bytes where they are long. */
export interface PoolResult extends Omit<RunResult, 'results' | 'written' | 'digest'> {
  readonly results: string | Uint8Array;
}

/** A `PoolResult` sent by a thread; `results` is in memory that threads share. */
export interface PortedResult extends Omit<PoolResult, 'results'> {
  readonly results: Uint8Array;
}

/** Adds a plan and drops the oldest. Both sides do this in the same order, so their plans are equal. */
export function remember<T>(plans: Map<string, T>, hash: string, plan: T): void {
  plans.set(hash, plan);
  const [oldest] = plans.keys();
  if (plans.size > MOST_PLANS && oldest !== undefined) plans.delete(oldest);
}

const MOST_PLANS = 256;
