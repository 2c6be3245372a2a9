import type { LongText } from '../text/long-text.ts';
import type { Claimed, Held } from './held.ts';

/** An execution of a workflow is identified by its caller and the id the caller gave it. */
export interface ExecutionKey {
  readonly owner: string;
  readonly executionId: string;
}

/** An execution is recorded before anything of it runs. It is open as long as it has no end, even after a crash. */
export interface ExecutionRow extends ExecutionKey {
  /** The hash of the plan: distinguishes a repeat from a conflict. */
  readonly digest: string;
  /** The caller's `Idempotency-Key`, a second name for the same execution. */
  readonly idempotencyKey: string | null;
  /** The request as JSON text: the workflow and its options. */
  readonly request: string;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  readonly end: ExecutionEnd | null;
}

export interface ExecutionEnd {
  readonly status: string;
  /** Its result as JSON text. */
  readonly result: string | LongText;
  /** Its events as JSON text. */
  readonly events: string;
  readonly endedAt: number;
}

/** An external effect of an execution. After a crash effects are read back; everything else is computed again. */
export interface EffectRow {
  /** 0, 1, 2 … in the order they were recorded. */
  readonly position: number;
  /** Identifies the effect within the workflow; the same in every run of it. */
  readonly key: string;
  readonly kind: EffectKind;
  /** JSON text. */
  readonly note: string;
  /** The raw answer of a call. */
  readonly bytes: Uint8Array | null;
}

/**
 * `intent`: a call that must not be repeated is about to be sent. `question`: a person was asked. `answer`: how that
 * question ended. All other kinds record the outcome of an effect.
 */
export type EffectKind = 'intent' | 'question' | 'answer' | 'call' | 'ask' | 'store' | 'wait' | 'now' | 'stored';

/** `held` is null for an execution that was recorded with its end. */
export type ExecutionAccepted =
  | { readonly repeat: false; readonly held: Held | null }
  | { readonly repeat: true; readonly row: ExecutionRow };

/** An execution in a list, without its request and result. */
export interface ExecutionSummary extends ExecutionKey {
  /** Increases with each execution. The next page begins before it. */
  readonly number: number;
  readonly status: string;
  readonly acceptedAt: number;
  readonly endedAt: number | null;
}

export interface ExecutionPageQuery {
  readonly before: number;
  readonly limit: number;
  readonly status: string | null;
}

export interface ExecutionStore {
  /**
   * Records an execution, with its end where it has one, or returns the earlier one that has its id or, failing that, its
   * idempotency key.
   */
  accept(row: ExecutionRow): Promise<ExecutionAccepted>;
  /**
   * Adds effects to an open execution. Throws if a position is taken, and `not_held` when the execution has ended or
   * another process has claimed it.
   */
  append(held: Held, effects: readonly EffectRow[]): Promise<void>;
  /** Records the end together with the effects not recorded yet, in one commit. Throws `not_held` as `append` does. */
  finish(held: Held, effects: readonly EffectRow[], end: ExecutionEnd): Promise<void>;
  find(key: ExecutionKey): Promise<ExecutionRow | undefined>;
  /** The executions of all owners with this id, newest first. */
  named(executionId: string): Promise<ExecutionRow[]>;
  /** In the order of their positions. */
  effects(key: ExecutionKey): Promise<EffectRow[]>;
  /** Takes over at most `limit` executions under way whose process is gone, oldest first. */
  claim(limit: number): Promise<Claimed<ExecutionRow>[]>;
  /** Newest first. The status `running` means open ones. */
  list(owner: string, page: ExecutionPageQuery): Promise<ExecutionSummary[]>;
  /** Deletes executions that ended before a time, with their effects. Returns how many. */
  purge(before: number): Promise<number>;
}

/** Data that an agent keeps beyond one execution, under names of its own. */
export interface StoredRow {
  readonly owner: string;
  readonly name: string;
  /** JSON text; null for a value in a file. */
  readonly value: string | null;
  /** The name of the file that has the value; null where `value` is set. */
  readonly file: string | null;
  readonly bytes: number;
  /** The labels of the value, as JSON text; null when it may go anywhere. */
  readonly labels: string | null;
  readonly updatedAt: number;
}

export type StoredInfo = Pick<StoredRow, 'name' | 'bytes' | 'updatedAt'>;

export interface StoredQuota {
  readonly bytes: number;
  readonly count: number;
}

/** When not kept, `bytes` and `count` are the totals that the value would have resulted in. */
export type Kept =
  | { readonly kept: true; readonly replaced: StoredRow | null }
  | { readonly kept: false; readonly bytes: number; readonly count: number };

export interface StoredDataStore {
  /**
   * Stores a value and records the effects of its execution, in one commit. Does neither when the value exceeds the
   * quota.
   */
  keep(row: StoredRow, quota: StoredQuota, by: { held: Held; effects: readonly EffectRow[] }): Promise<Kept>;
  find(owner: string, name: string): Promise<StoredRow | undefined>;
  /** The names of an owner, in order. */
  names(owner: string): Promise<string[]>;
  /** The stored data of an owner, by name. */
  list(owner: string): Promise<StoredInfo[]>;
  /** Returns the deleted row; null when the name does not exist. */
  remove(owner: string, name: string): Promise<StoredRow | null>;
  /** The files that rows of all owners name. */
  files(): Promise<string[]>;
}
