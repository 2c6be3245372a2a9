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
 * The durable record. A promise of a write resolves only after what it did has reached the disk (fsync); concurrent
 * writes share one. Everything is keyed by its owner first: a query cannot reach another principal's row by accident.
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
  /** Changes by other processes; absent where one process owns the store. */
  readonly families?: FamilyStore;
  /** Epoch milliseconds by the clock of the database; absent where that is this machine's. */
  now?(): Promise<number>;
  /** Runs work that only one process at a time may do, once; absent where one process owns the store. */
  inTurn?<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Its statistics, where it has any. */
  stats?(): Promise<StoreStats>;
}

/** Since the store was opened. */
export interface StoreStats {
  readonly driver: string;
  /** Writes done, and the commits (each one fsync) that they shared. */
  readonly writes: number;
  readonly commits: number;
  /** From the beginning of each transaction to the end of its fsync, together. */
  readonly commitMs: number;
  readonly checkpoints: number;
}

/** A request is identified by its sender and the id the sender gave it. */
export interface RequestKey {
  readonly owner: string;
  readonly requestId: string;
}

/** accepted → started → finished. After a crash, accepted requests run; started ones are ended. */
export type RequestState = 'accepted' | 'started' | 'finished';

export interface RequestRow extends RequestKey {
  readonly agentId: string;
  readonly sessionId: string | null;
  /** The caller's `Idempotency-Key`, a second name for the same request. */
  readonly idempotencyKey: string | null;
  /** As `envelopeRecord` wrote it: JSON text without secrets and default values. */
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

/** A request with how it arrived, as `arrivalText` wrote it; null for one that was recorded without. */
export interface ArrivedRow extends RequestRow {
  readonly arrival: string | null;
}

export interface FrameRow {
  readonly sequence: number;
  readonly isFinal: boolean;
  /** The response as JSON text: a resumed stream is byte for byte the same. */
  readonly text: string;
  /** Recorded with it, for lists of requests. Frames that are read do not have it. */
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
  /** That it was signed with. */
  readonly nonce?: NonceRow | undefined;
  /** How it arrived, as `arrivalText` wrote it. */
  readonly arrival?: string | undefined;
  /** The number of the other node that answers it, which `takeHandedOver` gives it to. Only in a store of several nodes. */
  readonly holder?: number | undefined;
  /** The letter of a mailbox message. */
  readonly letter?: NewLetter | undefined;
}

export interface RequestStore {
  /**
   * Records a request, in the state given, with what belongs to it; or returns the earlier one that has its id or, failing that, its
   * idempotency key, and records nothing but the nonce.
   */
  accept(row: RequestRow, beside?: RecordedWith): Promise<Accepted>;
  /** The same for a request that was answered before it could be recorded: all in one commit, or nothing. */
  acceptAnswered(row: RequestRow, frames: readonly FrameRow[], beside?: Omit<RecordedWith, 'nonce'>): Promise<Accepted>;
  /** accepted → started. False when it is not waiting any more. */
  start(held: Held): Promise<boolean>;
  /**
   * Adds frames in sequence; the final one makes the request finished. Throws on a gap or a repeat, which only a bug can cause, and
   * `not_held` when the request has ended or another process has claimed it.
   */
  append(held: Held, frames: readonly FrameRow[]): Promise<void>;
  find(key: RequestKey): Promise<RequestRow | undefined>;
  /** The earlier request that `accept` would return, without recording anything. */
  earlier(request: RequestName): Promise<RequestRow | undefined>;
  /** Everybody's requests of this id, newest first: callers choose it, so there may be several. */
  named(requestId: string): Promise<ArrivedRow[]>;
  /**
   * Frames after `after` (-1 for all) in order: at most `limit` of them, and at most `maxBytes` of text unless the first
   * alone is larger.
   */
  frames(key: RequestKey, range: { after: number; limit: number; maxBytes: number }): Promise<FrameRow[]>;
  /** Requests by owner, agent, session, progress and time, newest change first. */
  list(query: RequestQuery): Promise<RequestList>;
  /** Takes over at most `limit` open requests whose process is gone, oldest first. */
  claim(limit: number): Promise<Claimed<RequestRow>[]>;
  /** Notes of those accepted before then which are open now: when they end, their answers are kept from now on. */
  noteOpen(acceptedBefore: number, now: number): Promise<void>;
  /**
   * Forgets finished requests, with their frames, that were accepted before then and not noted to be open since. Returns how
   * many. Where the clock was set back in between, some may stay until the next time.
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
  /** As in its request's row. */
  readonly envelope: string;
  readonly final: string | null;
  readonly acceptedAt: number;
}

export interface SessionStore {
  /** Makes it, or leaves it as it is. A request with a session id makes its session too, in the same commit. */
  create(row: SessionRow): Promise<void>;
  /** Newest first. */
  list(
    owner: string,
    page: { offset: number; limit: number; agentId?: string; cwd?: string | undefined },
  ): Promise<{ rows: SessionRow[]; total: number }>;
  /** Those of an owner with this id, one for each agent that has it; the last used first. */
  named(owner: string, sessionId: string): Promise<SessionRow[]>;
  /**
   * Deletes it with its finished requests and, where it is a thread, its messages; false when none of these exist. A
   * thread may exist after its session is gone, because messages are kept for longer. Requests still running in it keep running,
   * outside of any session.
   */
  delete(key: SessionKey): Promise<boolean>;
  /** The agent's own name for the conversation, as its driver wrote it; `null` where there is none. */
  remote(key: SessionKey): Promise<string | null>;
  /** Writes it down; `null` forgets it. A session that is gone stays so. */
  setRemote(key: SessionKey, remote: string | null): Promise<void>;
  /** All sessions with an agent, in no particular order. */
  allWith(agentId: string): Promise<Pick<SessionKey, 'owner' | 'sessionId'>[]>;
  /** Whose sessions have this id with the agent: callers choose it, so there may be several; two are enough to know. */
  owners(session: { agentId: string; sessionId: string }): Promise<string[]>;
  /**
   * Newest first, at most `limit` of them and at most `maxBytes` of text unless the first alone is larger; with `before`,
   * those before the request of this id, which may not be recorded yet. `total` is how many the session has.
   */
  turns(
    key: SessionKey,
    page: { offset: number; limit: number; maxBytes: number; before?: string | undefined },
  ): Promise<{ rows: RecordedTurn[]; total: number }>;
  /** Forgets those last used before then that have no request left. Returns how many; as with requests, some may stay. */
  purge(before: number): Promise<number>;
}

/** An API key. Only its hash is stored. */
export interface KeyRow {
  readonly keyId: string;
  readonly hash: string;
  /** Whose key: an agent id, or `admin`. */
  readonly agentId: string;
  readonly role: 'agent' | 'admin';
  readonly description: string | null;
  readonly createdAt: number;
  /** It is not accepted from then on; null: it does not expire. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export interface KeyStore {
  put(row: KeyRow): Promise<void>;
  list(): Promise<KeyRow[]>;
  /** False when there is no such key or it is revoked already. */
  revoke(keyId: string, at: number): Promise<boolean>;
}

/** An agent made by administration: its permissions, limits and driver as JSON text. */
export interface AgentRow {
  readonly agentId: string;
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
  /** Adds to the counts, which several processes may do; slices before `forget` are dropped. */
  add(rows: readonly CounterRow[], forget: number): Promise<void>;
  /**
   * Adds the result of `decide` to the counts of a principal, while no other process does so for it; returns the new counts. `decide`
   * may be called more than once. Absent where one process owns the store.
   */
  lease?(
    principal: string,
    spans: readonly CounterSpan[],
    decide: (rows: readonly CounterRow[]) => readonly CounterRow[],
  ): Promise<readonly CounterRow[]>;
}
