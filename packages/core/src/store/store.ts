import type { AnonymousStore } from './anonymous.ts';
import type { ApiStore } from './apis.ts';
import type { ClusterStore } from './cluster.ts';
import type { CredentialStore } from './credentials.ts';
import type { ExecutionStore, StoredDataStore } from './executions.ts';
import type { FamilyStore } from './families.ts';
import type { ForgettingStore } from './forgetting.ts';
import type { Claimed, Held } from './held.ts';
import type { KnowledgeStore } from './knowledge.ts';
import type { MemoriesStore } from './memories.ts';
import type { NonceRow, NonceStore } from './nonces.ts';
import type { OutboxStore } from './outbox.ts';
import type { PinStore } from './pins.ts';
import type { PushConfigStore } from './push-configs.ts';
import type { RegistrationStore } from './registrations.ts';
import type { ProgressChange, RequestList, RequestQuery } from './request-list.ts';
import type { NewLetter, ThreadStore } from './threads.ts';
import type { WorkflowStore } from './workflows.ts';

export type * from './anonymous.ts';
export type * from './apis.ts';
export type * from './cluster.ts';
export type * from './credentials.ts';
export type * from './executions.ts';
export type * from './families.ts';
export type * from './forgetting.ts';
export type * from './held.ts';
export type * from './knowledge.ts';
export type * from './nonces.ts';
export type * from './outbox.ts';
export type * from './push-configs.ts';
export type * from './registrations.ts';
export type * from './request-list.ts';
export type * from './threads.ts';
export type * from './workflows.ts';

/**
 * The durable record. The promise of a write resolves only after its changes have reached the disk (fsync); concurrent
 * writes share one fsync. Keys begin with the owner, so a query cannot reach another principal's row by accident.
 * Failed reads and writes reject with a `StoreError`, distinguished by its `code`.
 */
export interface Store extends AsyncDisposable {
  readonly requests: RequestStore;
  readonly sessions: SessionStore;
  readonly keys: KeyStore;
  readonly agents: AgentStore;
  readonly counters: CounterStore;
  readonly executions: ExecutionStore;
  readonly storedData: StoredDataStore;
  readonly credentials: CredentialStore;
  readonly apis: ApiStore;
  readonly workflows: WorkflowStore;
  readonly knowledge: KnowledgeStore;
  readonly threads: ThreadStore;
  readonly outbox: OutboxStore;
  readonly memories: MemoriesStore;
  readonly pins: PinStore;
  readonly pushConfigs: PushConfigStore;
  readonly registrations: RegistrationStore;
  readonly nonces: NonceStore;
  readonly forgetting: ForgettingStore;
  readonly anonymous: AnonymousStore;
  /** This node and the others; absent where one process owns the store. */
  readonly cluster?: ClusterStore;
  /** Shows changes by other processes; absent where one process owns the store. */
  readonly families?: FamilyStore;
  /** Epoch milliseconds by the clock of the database; absent where that is this machine's. */
  now?(): Promise<number>;
  /** Runs the work while no other process runs work of this name; absent where one process owns the store. */
  inTurn?<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Absent where the store has no statistics. */
  stats?(): Promise<StoreStats>;
}

/** Counts since the store was opened. */
export interface StoreStats {
  readonly driver: string;
  readonly writes: number;
  /** The commits that the writes shared, each with one fsync. */
  readonly commits: number;
  /** The sum of all transactions' times, each from its beginning to the end of its fsync. */
  readonly commitMs: number;
  readonly checkpoints: number;
}

/** A request is identified by its sender and the id the sender gave it. */
export interface RequestKey {
  readonly owner: string;
  readonly requestId: string;
}

/** accepted → started → finished. After a crash, accepted requests run; started ones are continued or ended. */
export type RequestState = 'accepted' | 'started' | 'finished';

export interface RequestRow extends RequestKey {
  readonly agentId: string;
  readonly sessionId: string | null;
  /** The caller's `Idempotency-Key`, a second name for the same request. */
  readonly idempotencyKey: string | null;
  /** Written by `envelopeRecord`: JSON text without secrets and default values. */
  readonly envelope: string;
  readonly state: RequestState;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  readonly expiresAt: number | null;
  /** Lower runs first. */
  readonly priority: number;
}

/** The names by which a repeated request is recognized. */
export type RequestName = RequestKey & Pick<RequestRow, 'idempotencyKey'>;

/** `arrival` is written by `arrivalText`; null for a request that was recorded without it. */
export interface ArrivedRow extends RequestRow {
  readonly arrival: string | null;
}

export interface FrameRow {
  readonly sequence: number;
  readonly isFinal: boolean;
  /** The response as JSON text: a resumed stream is byte for byte the same. */
  readonly text: string;
  /** Set only on frames to record; lists of requests use it. */
  readonly change?: ProgressChange | undefined;
}

export type Accepted =
  /** `held` is null for a request that was recorded as finished. */
  | { readonly repeat: false; readonly held: Held | null }
  | { readonly repeat: true; readonly row: RequestRow }
  /** Its nonce was used for other bytes; nothing was recorded. */
  | { readonly reused: true };

/** Data that is recorded with a request, in one commit. */
export interface RecordedWith {
  /** The nonce of its signature. */
  readonly nonce?: NonceRow | undefined;
  /** Written by `arrivalText`. */
  readonly arrival?: string | undefined;
  /**
   * The number of the other node that is to answer the request and gets it by `takeHandedOver`. Only with several
   * nodes.
   */
  readonly holder?: number | undefined;
  /** The letter of a mailbox message. */
  readonly letter?: NewLetter | undefined;
}

export interface RequestStore {
  /**
   * Records a request, in the state of `row`, together with `beside`. If an earlier request has its id or its
   * idempotency key, returns that one and records nothing but the nonce.
   */
  accept(row: RequestRow, beside?: RecordedWith): Promise<Accepted>;
  /** Like `accept`, for a request that was answered before it was recorded: records both in one commit. */
  acceptAnswered(row: RequestRow, frames: readonly FrameRow[], beside?: Omit<RecordedWith, 'nonce'>): Promise<Accepted>;
  /** accepted → started. False when the request is not waiting any more, or another process has claimed it. */
  start(held: Held): Promise<boolean>;
  /**
   * Adds frames in sequence; the final one makes the request finished. Throws on a gap or a repeat, which only a bug
   * can cause, and `not_held` when the request has ended or another process has claimed it.
   */
  append(held: Held, frames: readonly FrameRow[]): Promise<void>;
  find(key: RequestKey): Promise<RequestRow | undefined>;
  /** The earlier request that `accept` would return, without recording anything. */
  earlier(request: RequestName): Promise<RequestRow | undefined>;
  /** The requests of all owners with this id, newest first. Callers choose ids, so there may be several. */
  named(requestId: string): Promise<ArrivedRow[]>;
  /**
   * The frames after a sequence (-1 for all), in order: at most `limit`, and at most `maxBytes` of text unless the
   * first frame alone is longer.
   */
  frames(key: RequestKey, range: { after: number; limit: number; maxBytes: number }): Promise<FrameRow[]>;
  /** Requests by owner, agent, session, progress and time, newest change first. */
  list(query: RequestQuery): Promise<RequestList>;
  /** Takes over at most `limit` open requests whose process is gone, oldest first. */
  claim(limit: number): Promise<Claimed<RequestRow>[]>;
  /**
   * Notes which requests accepted before a time are open at `now`, so that `purge` keeps their answers as if accepted
   * then.
   */
  noteOpen(acceptedBefore: number, now: number): Promise<void>;
  /**
   * Deletes finished requests, with their frames, that were accepted before a time and not noted as open since. Returns
   * how many. After the clock was set back, some may stay until a later purge.
   */
  purge(before: number): Promise<number>;
}

/** A conversation: (owner, agent, session id). */
export interface SessionKey {
  readonly owner: string;
  readonly agentId: string;
  readonly sessionId: string;
}

export interface SessionRow extends SessionKey {
  readonly title: string | null;
  /** The folder its client works in, if known. */
  readonly cwd: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One turn of a conversation: the request and, when it has ended, the final frame. */
export interface RecordedTurn {
  readonly requestId: string;
  /** As in the row of its request. */
  readonly envelope: string;
  readonly final: string | null;
  readonly acceptedAt: number;
}

export interface SessionStore {
  /** Adds the session unless it exists. A request with a session id adds its session in its own commit. */
  create(row: SessionRow): Promise<void>;
  /** Newest first. */
  list(
    owner: string,
    page: { offset: number; limit: number; agentId?: string | undefined; cwd?: string | undefined },
  ): Promise<{ rows: SessionRow[]; total: number }>;
  /** The owner's sessions with this id, one for each agent that has it; the last used first. */
  named(owner: string, sessionId: string): Promise<SessionRow[]>;
  /**
   * Deletes a session with its finished requests and, if it is a thread, its messages; false when none of these exist.
   * A thread may exist after its session is gone, because messages are kept for longer. Running requests continue
   * outside of any session.
   */
  delete(key: SessionKey): Promise<boolean>;
  /** The agent's own id of the conversation, as its driver recorded it with `setRemote`; null without one. */
  remote(key: SessionKey): Promise<string | null>;
  /** Records the agent's own id; null removes it. Does nothing when the session does not exist. */
  setRemote(key: SessionKey, remote: string | null): Promise<void>;
  /** All sessions with an agent, in no particular order. */
  allWith(agentId: string): Promise<Pick<SessionKey, 'owner' | 'sessionId'>[]>;
  /**
   * The owners, at most two, of the sessions with this id and agent. Callers choose ids, so there may be several
   * owners.
   */
  owners(session: { agentId: string; sessionId: string }): Promise<string[]>;
  /**
   * Newest first: at most `limit` turns, and at most `maxBytes` of text unless the first turn alone is longer. With
   * `before`, only turns before the request with this id; if it is not recorded yet, all turns. `total` counts all
   * turns of the session.
   */
  turns(
    key: SessionKey,
    page: { offset: number; limit: number; maxBytes: number; before?: string | undefined },
  ): Promise<{ rows: RecordedTurn[]; total: number }>;
  /**
   * Deletes sessions last used before a time that have no request left. Returns how many; as with requests, some may
   * stay.
   */
  purge(before: number): Promise<number>;
}

/** An API key. Only its hash is stored. */
export interface KeyRow {
  readonly keyId: string;
  readonly hash: string;
  /** The agent whose key it is, or `admin`. */
  readonly agentId: string;
  readonly role: 'agent' | 'admin';
  readonly description: string | null;
  readonly createdAt: number;
  /** Epoch milliseconds from which it is not accepted any more; null when it does not expire. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export interface KeyStore {
  put(row: KeyRow): Promise<void>;
  list(): Promise<KeyRow[]>;
  /** False when the key does not exist or is revoked already. */
  revoke(keyId: string, at: number): Promise<boolean>;
}

/** An agent that was added by administration. */
export interface AgentRow {
  readonly agentId: string;
  /** Its permissions, limits and driver as JSON text. */
  readonly definition: string;
  readonly createdAt: number;
}

export interface AgentStore {
  put(row: AgentRow): Promise<void>;
  list(): Promise<AgentRow[]>;
  remove(agentId: string): Promise<boolean>;
}

/** How often a principal did something in one slice of time. */
export interface CounterRow {
  readonly principal: string;
  readonly name: string;
  /** Epoch milliseconds at which the slice begins. */
  readonly slice: number;
  readonly count: number;
}

/** The slices of one name from a time on. */
export interface CounterSpan {
  readonly name: string;
  readonly since: number;
}

export interface CounterStore {
  load(since: number): Promise<CounterRow[]>;
  /** Adds to the recorded counts, which several processes may share. Slices before `forget` are deleted. */
  add(rows: readonly CounterRow[], forget: number): Promise<void>;
  /**
   * Adds the result of `decide` to the counts of a principal while no other process can, and returns the new counts.
   * `decide` may be called more than once. Absent where one process owns the store.
   */
  lease?(
    principal: string,
    spans: readonly CounterSpan[],
    decide: (rows: readonly CounterRow[]) => readonly CounterRow[],
  ): Promise<readonly CounterRow[]>;
}
