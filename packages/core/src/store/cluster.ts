import type { ExecutionKey } from './executions.ts';
import type { Claimed } from './held.ts';
import type { RequestKey, RequestRow } from './store.ts';

/**
 * This node among several on one database. Absent from a store that one process owns.
 *
 *   live ──▶ leaving ──▶ left
 *     └── silent for too long ──▶ dead ──▶ joins again under another number, if it is still there
 *
 * Everything that is open has a holder, which is the number of a node. Runs of a node that has left or is dead may be claimed.
 */
export interface ClusterStore {
  /** The number of this node. No other start of a process ever had it. */
  readonly node: number;
  /** All current nodes, and those that left recently; oldest first. */
  nodes(): Promise<NodeRow[]>;
  /**
   * Shows that this node is alive. Returns the milliseconds since its previous beat, by the clock of the database;
   * `undefined` when it was declared dead: another node may hold its runs now. Rejects when the database does not
   * answer in time.
   */
  beat(withinMs: number): Promise<number | undefined>;
  /** Takes a new number, after this node was declared dead. */
  join(): Promise<void>;
  /** Declares silent nodes dead, unless this node is silent itself. Returns their numbers. */
  buryDead(limits: NodeLimits): Promise<number[]>;
  /** Whether a node that is gone still holds open work. */
  hasLeftovers(): Promise<boolean>;
  /** Marks this node as leaving: others do not choose it for new work any more. */
  leave(): Promise<void>;
  /** How safely the shared database keeps acknowledged writes. */
  database(): Promise<SharedDatabase>;

  /** `undefined` when the request is not open. */
  openRequest(key: RequestKey): Promise<OpenRequest | undefined>;
  /** The open requests among those with these numbers. */
  openRequests(numbers: readonly number[]): Promise<OpenRequest[]>;
  /** The open requests of an owner on all nodes, newest last. */
  openOf(owner: string): Promise<RequestRow[]>;

  /** Records that an agent has connected to this node. */
  addLine(agentId: string): Promise<void>;
  removeLine(agentId: string): Promise<void>;
  /** The other node that an agent is connected to; the newest connection counts. */
  lineOf(agentId: string): Promise<number | undefined>;
  /** Takes the requests that other nodes have handed over to this one, oldest first. */
  takeHandedOver(): Promise<Claimed<RequestRow>[]>;
  /** Takes over the requests that wait for an agent on nodes to which it is not connected. Returns each with its previous holder. */
  takeWaiting(agentId: string): Promise<(Claimed<RequestRow> & { readonly from: number })[]>;

  /** The node that runs an execution; `undefined` when it has ended. */
  holderOf(execution: ExecutionKey): Promise<number | undefined>;

  /** The numbers of the other current nodes. */
  others(): Promise<number[]>;
  /** Sends words to other nodes. Those that are not connected just now do not get them. */
  send(words: readonly NodeWord[]): Promise<void>;
  /** Called with each word that another node sends to this one. */
  onWord: ((text: string) => void) | undefined;

  /** Records a call for another node. Returns the number of the call. */
  addCall(node: number, text: string): Promise<number>;
  /** The calls for this node that were not taken before, oldest first. */
  takeCalls(): Promise<NodeCall[]>;
  answerCall(id: number, text: string): Promise<void>;
  /** Takes and deletes the answers that these calls have so far. */
  takeAnswers(ids: readonly number[]): Promise<Omit<NodeCall, 'caller'>[]>;
}

export interface OpenRequest {
  /** The number of the request. */
  readonly request: number;
  /** The node that answers it. */
  readonly holder: number;
  /** The sequence of the next frame. */
  readonly next: number;
}

export interface NodeWord {
  readonly node: number;
  readonly text: string;
}

export interface NodeCall {
  readonly id: number;
  /** The number of the node that asks. */
  readonly caller: number;
  readonly text: string;
}

export interface SharedDatabase {
  /** The version of the database server. */
  readonly version: string;
  /** The version of the tables. */
  readonly schemaVersion: number;
  /** The setting `synchronous_commit`: from `on` upwards a commit waits for a synchronous standby, where one is named. */
  readonly synchronousCommit: string;
  /** The synchronous standbys. When empty, a failover can lose the latest acknowledged writes. */
  readonly synchronousStandbys: string;
  /** How many standbys are connected. */
  readonly standbys: number;
}

/** When a node counts as dead, by the clock of the database. */
export interface NodeLimits {
  /** A node that is silent for this long is dead. */
  readonly ttlMs: number;
  /** A silent node without a database connection is dead after this shorter time. */
  readonly graceMs: number;
}

export type NodeState = 'live' | 'leaving' | 'left' | 'dead';

export interface NodeRow {
  readonly id: number;
  readonly name: string;
  /** The version of Dragoman that it runs. */
  readonly version: string;
  readonly state: NodeState;
  readonly isSelf: boolean;
  /** Epoch milliseconds, by the clock of the database. */
  readonly startedAt: number;
  readonly beatAt: number;
  /** How long ago the last beat was. */
  readonly silentMs: number;
  /** How far its own clock is ahead of the database's, as last measured; null before the first measurement. */
  readonly skewMs: number | null;
  /** The digest of its configuration, which should be the same on all nodes. */
  readonly configDigest: string | null;
  /** The URL at which other nodes reach it. */
  readonly peerUrl: string | null;
  /** How much open work it holds. */
  readonly holds: NodeHolds;
}

export interface NodeHolds {
  readonly requests: number;
  readonly executions: number;
  readonly letters: number;
  readonly deliveries: number;
}
