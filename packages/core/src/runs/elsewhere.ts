import type { E2AAuth, Failure } from '@dragoman/protocols';
import type { RequestKey, RequestRow } from '../store/store.ts';
import type { FrameSource } from './reading.ts';

/** The requests that other nodes answer. Absent where one process owns the store. */
export interface Elsewhere {
  /** The frames of a request, as the node that answers it records them. */
  follow(key: RequestKey, signal?: AbortSignal): FrameSource;
  /** Whether readers of other nodes, or followers at this one, read a request. */
  isRead(key: RequestKey): Promise<boolean>;
  /** Makes the node that answers a request do this. False when no node answers it. Never rejects. */
  control(key: RequestKey, control: RunControl): Promise<boolean>;
  /** The open requests of an owner that others answer. */
  running(owner: string): Promise<readonly RequestRow[]>;
  /** The other node that an agent is connected to, for one that is not connected here. */
  lineOf(agentId: string): Promise<number | undefined>;
  /** Gives another node what of a request is not recorded, before the request is recorded for that node. */
  giveAuth(node: number, key: RequestKey, auth: E2AAuth): Promise<void>;
  /** What another node has given for a request that it recorded for this one. */
  takeAuth(key: RequestKey): E2AAuth | undefined;
  /** Tells another node that a request was recorded for it. */
  handOver(node: number): void;
  /** Frames of a request that is answered here are on the disk: the next has this sequence, unless it is over. */
  landed(request: number, next: number, isOver: boolean): void;
}

/** The actions on a running request, as JSON. */
export type RunControl =
  | { readonly do: 'end'; readonly reason: Failure }
  | { readonly do: 'pause' }
  | { readonly do: 'resume' };
