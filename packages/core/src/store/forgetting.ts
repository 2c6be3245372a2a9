import type { ExecutionKey } from './executions.ts';
import type { RequestKey } from './store.ts';

/** What came of taking something out: it is gone; it is under way and stays; it never was there. */
export type Removed = 'removed' | 'under_way' | 'absent';

/** What was taken out, and what could not be because it is under way. */
export interface ForgottenCounts {
  readonly requests: number;
  readonly sessions: number;
  readonly executions: number;
  readonly storedKeys: number;
  readonly threadMessages: number;
  readonly callbacks: number;
  readonly memories: number;
  readonly underWay: number;
  /** The files of what was stored: nothing names them any more, and whoever asked removes them. */
  readonly files: readonly string[];
}

/** Takes out what was recorded, for good: where the store can, its bytes are overwritten. */
export interface ForgettingStore {
  /**
   * A request with its frames, what its thread has of it, and its callbacks: also where those are all that is left of it. While
   * its answer is owed to somebody it is under way.
   */
  request(key: RequestKey): Promise<Removed>;
  /** An execution with its effects, events and result. */
  execution(key: ExecutionKey): Promise<Removed>;
  /**
   * Everything recorded in a caller's name that has ended. What it did with secrets, how often it called, and the nonces it
   * has used stay for their time: they protect others.
   */
  caller(owner: string): Promise<ForgottenCounts>;
}
