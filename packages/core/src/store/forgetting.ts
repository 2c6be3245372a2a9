import type { ExecutionKey } from './executions.ts';
import type { RequestKey } from './store.ts';

/** The outcome of a deletion: it is gone; it is open and kept; it never existed. */
export type Removed = 'removed' | 'under_way' | 'absent';

/** The numbers of deleted records, and of those that are kept because they are open. */
export interface ForgottenCounts {
  readonly requests: number;
  readonly sessions: number;
  readonly executions: number;
  readonly storedKeys: number;
  readonly threadMessages: number;
  readonly callbacks: number;
  readonly memories: number;
  readonly underWay: number;
  /** The files of deleted data: no row names them any more, and the caller must remove them. */
  readonly files: readonly string[];
}

/** Deletes records for good: where the store can, their bytes are overwritten. */
export interface ForgettingStore {
  /**
   * A request with its frames, its messages in a thread, and its callbacks, even if only those are left. It is open as long as
   * its answer is still to be delivered.
   */
  request(key: RequestKey): Promise<Removed>;
  /** An execution with its effects, events and result. */
  execution(key: ExecutionKey): Promise<Removed>;
  /**
   * All ended records of a caller. Its uses of secrets, its counters and its nonces are kept for their time, because they
   * protect others.
   */
  caller(owner: string): Promise<ForgottenCounts>;
}
