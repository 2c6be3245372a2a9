import type { E2AAuth, Failure } from '@dragoman/protocols';
import type { RequestKey, RequestRow } from '../store/store.ts';
import type { FrameSource } from './reading.ts';

/** The requests that other nodes answer. Absent where one process owns the store. */
export interface Elsewhere {
  /** The frames of a request, as the node that answers it records them. */
  follow(key: RequestKey, signal?: AbortSignal): FrameSource;
  /** Whether anyone still reads a request, at another node or at this one by `follow`. */
  isRead(key: RequestKey): Promise<boolean>;
  /** Lets the node that answers a request carry out the action. False when no node answers it. Never rejects. */
  control(key: RequestKey, control: RunControl): Promise<boolean>;
  /** The open requests of an owner on all nodes, newest last. */
  running(owner: string): Promise<readonly RequestRow[]>;
  /** The number of the other node that an agent is connected to. */
  lineOf(agentId: string): Promise<number | undefined>;
  /**
   * Gives another node the credentials of a request, which are not recorded, before the request is recorded for that
   * node.
   */
  giveAuth(node: number, key: RequestKey, auth: E2AAuth): Promise<void>;
  /** The credentials that another node gave for a request that it recorded for this one. Each is taken once. */
  takeAuth(key: RequestKey): E2AAuth | undefined;
  /** Tells another node that a request was recorded for it. */
  handOver(node: number): void;
  /**
   * Called when frames of a request that is answered here are on the disk. `next` is the sequence of the frame after
   * them.
   */
  landed(request: number, next: number, isOver: boolean): void;
}

/** The actions on a running request, as JSON. */
export type RunControl =
  | { readonly do: 'end'; readonly reason: Failure }
  | { readonly do: 'pause' }
  | { readonly do: 'resume' };
