import type { LongText } from '../text/long-text.ts';

/** An execution of a workflow is known by who asked for it and the id they gave it. */
export interface ExecutionKey {
  readonly owner: string;
  readonly executionId: string;
}

/** Recorded before anything runs. It is under way as long as it has no end, also after a crash. */
export interface ExecutionRow extends ExecutionKey {
  /** Of what is to run: tells a repeat from a conflict. */
  readonly digest: string;
  /** The caller's `Idempotency-Key`, a second name for the same execution. */
  readonly idempotencyKey: string | null;
  /** What was asked for, as JSON text: the workflow and how it is to run. */
  readonly request: string;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  readonly end: ExecutionEnd | null;
}

export interface ExecutionEnd {
  readonly status: string;
  /** What its owner is answered, as JSON text. */
  readonly result: string | LongText;
  /** What was told while it ran, as JSON text. */
  readonly events: string;
  readonly endedAt: number;
}

/**
 * Something an execution did to the world or learned from it. Everything else it does is computed again after a crash;
 * these are read back instead.
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
 * `intent`: a call that must not be made twice is about to leave. `question`: a person was asked; `answer`: how that ended. The others: what
 * came of the effect.
 */
export type EffectKind = 'intent' | 'question' | 'answer' | 'call' | 'ask' | 'store' | 'wait' | 'now' | 'stored';

export type ExecutionAccepted = { readonly repeat: false } | { readonly repeat: true; readonly row: ExecutionRow };

/** An execution in a list: everything but what was asked and answered. */
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
   * Records an execution, with its end where it has one, or tells which earlier one has its id or, failing that, its
   * idempotency key.
   */
  accept(row: ExecutionRow): Promise<ExecutionAccepted>;
  /** Adds effects to one that is under way. Refuses (throws) a position that is taken, and one that has ended. */
  append(key: ExecutionKey, effects: readonly EffectRow[]): Promise<void>;
  /** Ends it, once, with the effects not recorded yet: all in one commit. */
  finish(key: ExecutionKey, effects: readonly EffectRow[], end: ExecutionEnd): Promise<void>;
  find(key: ExecutionKey): Promise<ExecutionRow | undefined>;
  /** Everybody's executions of this id, newest first. */
  named(executionId: string): Promise<ExecutionRow[]>;
  /** In the order of their positions. */
  effects(key: ExecutionKey): Promise<EffectRow[]>;
  /** Everything under way, oldest first: what a restart has to go on with. */
  unfinished(): Promise<ExecutionRow[]>;
  /** Newest first, from before a number; of one status when given, `running` for those under way. */
  list(owner: string, page: ExecutionPageQuery): Promise<ExecutionSummary[]>;
  /** Forgets what ended before then, with its effects. Returns how many. */
  purge(before: number): Promise<number>;
}

/** What an agent keeps beyond one execution, under names of its own. */
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

/** `kept`: and what it took the place of. Else what there would have been. */
export type Kept =
  | { readonly kept: true; readonly replaced: StoredRow | null }
  | { readonly kept: false; readonly bytes: number; readonly count: number };

export interface StoredDataStore {
  /** Keeps it and records the effects of the execution that did so, in one commit: or neither, where it is too much. */
  keep(row: StoredRow, quota: StoredQuota, by: { key: ExecutionKey; effects: readonly EffectRow[] }): Promise<Kept>;
  find(owner: string, name: string): Promise<StoredRow | undefined>;
  /** The names of an owner, in order. */
  names(owner: string): Promise<string[]>;
  /** What an owner has stored, by name. */
  list(owner: string): Promise<StoredInfo[]>;
  /** Forgets it, and gives back what it was; null when there was nothing of that name. */
  remove(owner: string, name: string): Promise<StoredRow | null>;
  /** The files of everybody that are in use. */
  files(): Promise<string[]>;
}
