import type { ExecutionKey } from './executions.ts';
import type { Claimed } from './held.ts';
import type { RequestKey, RequestRow } from './store.ts';

/**
 * One node among several on one database. A store that one process owns has none.
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
   * Shows that this node is alive. Returns how long after its previous beat, by the clock of the database; `undefined` when it was declared
   * dead: another node may hold its runs now. Rejects when the database does not answer in time.
   */
  beat(withinMs: number): Promise<number | undefined>;
  /** Takes a new number, after this node was declared dead. */
  join(): Promise<void>;
  /** Declares nodes dead that have not shown that they are alive, if this node has. Returns their numbers. */
  buryDead(limits: NodeLimits): Promise<number[]>;
  /** Whether a node that is gone still holds something. */
  hasLeftovers(): Promise<boolean>;
  /** From now on others do not choose this node for new work. */
  leave(): Promise<void>;
  /** How the database that they share keeps what it acknowledges. */
  database(): Promise<SharedDatabase>;

  /** An open request, with the node that answers it. */
  openRequest(key: RequestKey): Promise<OpenRequest | undefined>;
  /** Those of these numbers that are open. */
  openRequests(numbers: readonly number[]): Promise<OpenRequest[]>;
  /** The open requests of an owner on all nodes, newest last. */
  openOf(owner: string): Promise<RequestRow[]>;

  /** An agent that dials in is connected to this node from now on. */
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

  /** The numbers of the other nodes that are here. */
  others(): Promise<number[]>;
  /** Sends words to other nodes. Those that are not connected just now do not get them. */
  send(words: readonly NodeWord[]): Promise<void>;
  /** Called with each word that another node sends to this one. */
  onWord: ((text: string) => void) | undefined;

  /** Leaves a call for another node. Gives its number. */
  addCall(node: number, text: string): Promise<number>;
  /** The calls for this node that were not taken before, oldest first. */
  takeCalls(): Promise<NodeCall[]>;
  answerCall(id: number, text: string): Promise<void>;
  /** The answers to these calls, as far as there are any. They are deleted with that. */
  takeAnswers(ids: readonly number[]): Promise<Omit<NodeCall, 'caller'>[]>;
}

export interface OpenRequest {
  /** Its number. */
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
  /** Of the database server. */
  readonly version: string;
  /** Of the tables. */
  readonly schemaVersion: number;
  /** The setting `synchronous_commit`: from `on` upwards a commit waits for a synchronous standby, where one is named. */
  readonly synchronousCommit: string;
  /** The synchronous standbys; empty: none, so that a failover can lose the latest acknowledged writes. */
  readonly synchronousStandbys: string;
  /** How many standbys are connected. */
  readonly standbys: number;
}

/** By the clock of the database. */
export interface NodeLimits {
  /** A node that is silent for so long is dead. */
  readonly ttlMs: number;
  /** One whose connection is gone as well is dead after so long. */
  readonly graceMs: number;
}

export type NodeState = 'live' | 'leaving' | 'left' | 'dead';

export interface NodeRow {
  readonly id: number;
  readonly name: string;
  /** Of its program. */
  readonly version: string;
  readonly state: NodeState;
  readonly isSelf: boolean;
  /** Epoch milliseconds, by the clock of the database. */
  readonly startedAt: number;
  readonly beatAt: number;
  /** How long ago that was. */
  readonly silentMs: number;
  /** How far its own clock is ahead of the database's, as it measured last; null before that. */
  readonly skewMs: number | null;
  /** Of its configuration: nodes should have the same. */
  readonly configDigest: string | null;
  /** Where other nodes reach it. */
  readonly peerUrl: string | null;
  /** Its current responsibilities. */
  readonly holds: NodeHolds;
}

export interface NodeHolds {
  readonly requests: number;
  readonly executions: number;
  readonly letters: number;
  readonly deliveries: number;
}
