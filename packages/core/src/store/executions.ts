import type { LongText } from '../text/long-text.ts';
import type { Claimed, Held } from './held.ts';

/** An execution of a workflow is identified by its caller and the id the caller gave it. */
export interface ExecutionKey {
  readonly owner: string;
  readonly executionId: string;
}

/** Recorded before anything runs. It is open as long as it has no end, even after a crash. */
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

/**
 * An external effect of an execution, or its answer. Everything else is computed again after a crash;
 * effects are read back instead.
 */
export interface EffectRow {
  /** 0, 1, 2 … in the order they were recorded. */
  readonly position: number;
  /** Which effect of the workflow, the same in every run of it. */
  readonly key: string;
  readonly kind: EffectKind;
  /** JSON text. */
  readonly note: string;
  /** The raw answer of a call. */
  readonly bytes: Uint8Array | null;
}

/**
 * `intent`: a call that must not be repeated is about to be sent. `question`: a question to a person; `answer`: how it ended. The others: the
 * outcome of the effect.
 */
export type EffectKind = 'intent' | 'question' | 'answer' | 'call' | 'ask' | 'store' | 'wait' | 'now' | 'stored';

/** `held` is null for one that was recorded with its end. */
export type ExecutionAccepted =
  | { readonly repeat: false; readonly held: Held | null }
  | { readonly repeat: true; readonly row: ExecutionRow };

/** An execution in a list, without its request and result. */
export interface ExecutionSummary extends ExecutionKey {
  /** Goes up with each execution: where the next page begins. */
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
   * Adds effects to one that is under way. Throws on a position that is taken, and `not_held` when it has ended or another process has
   * claimed it.
   */
  append(held: Held, effects: readonly EffectRow[]): Promise<void>;
  /** Ends it, once, with the effects not recorded yet: all in one commit. Throws `not_held` as `append` does. */
  finish(held: Held, effects: readonly EffectRow[], end: ExecutionEnd): Promise<void>;
  find(key: ExecutionKey): Promise<ExecutionRow | undefined>;
  /** Everybody's executions of this id, newest first. */
  named(executionId: string): Promise<ExecutionRow[]>;
  /** In the order of their positions. */
  effects(key: ExecutionKey): Promise<EffectRow[]>;
  /** Takes over at most `limit` executions under way whose process is gone, oldest first. */
  claim(limit: number): Promise<Claimed<ExecutionRow>[]>;
  /** Newest first, from before a number; of one status when given, `running` for those under way. */
  list(owner: string, page: ExecutionPageQuery): Promise<ExecutionSummary[]>;
  /** Forgets what ended before then, with its effects. Returns how many. */
  purge(before: number): Promise<number>;
}

/** Data that an agent keeps beyond one execution, under names of its own. */
export interface StoredRow {
  readonly owner: string;
  readonly name: string;
  /** JSON text; null where it is in a file. */
  readonly value: string | null;
  /** The name of that file. */
  readonly file: string | null;
  readonly bytes: number;
  /** Where it may go, as JSON text; null where it may go anywhere. */
  readonly labels: string | null;
  readonly updatedAt: number;
}

export type StoredInfo = Pick<StoredRow, 'name' | 'bytes' | 'updatedAt'>;

export interface StoredQuota {
  readonly bytes: number;
  readonly count: number;
}

/** `kept`: with the value that was replaced. Otherwise the totals that it would have led to. */
export type Kept =
  | { readonly kept: true; readonly replaced: StoredRow | null }
  | { readonly kept: false; readonly bytes: number; readonly count: number };

export interface StoredDataStore {
  /** Keeps it and records the effects of the execution that did so, in one commit: or neither, when it exceeds the quota. */
  keep(row: StoredRow, quota: StoredQuota, by: { held: Held; effects: readonly EffectRow[] }): Promise<Kept>;
  find(owner: string, name: string): Promise<StoredRow | undefined>;
  /** The names of an owner, in order. */
  names(owner: string): Promise<string[]>;
  /** The stored data of an owner, by name. */
  list(owner: string): Promise<StoredInfo[]>;
  /** Deletes and returns it; null when the name does not exist. */
  remove(owner: string, name: string): Promise<StoredRow | null>;
  /** The files of everybody that are in use. */
  files(): Promise<string[]>;
}
