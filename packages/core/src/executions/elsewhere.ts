import type { ExecutionKey } from '../store/executions.ts';
import type { ExecutionEventRecord } from './live-execution.ts';

export interface WaitOptions {
  /** Waits for events where there are none. Default: true. */
  readonly waits?: boolean;
}

/** The executions that other nodes run. Absent where one process owns the store. */
export interface ExecutionsElsewhere {
  /** Makes the node that runs it end it. False when no node runs it. Never rejects. */
  cancel(key: ExecutionKey): Promise<boolean>;
  /** Whether another node runs it now. */
  isRunning(key: ExecutionKey): Promise<boolean>;
  /** Its events after a number, without the final one: none where there are none for some seconds, or by now. Never rejects. */
  eventsAfter(key: ExecutionKey, after: number, options?: WaitOptions): Promise<readonly ExecutionEventRecord[]>;
  /** Whether it waits for a person. Where it does not, the answer takes some seconds. Never rejects. */
  isParked(key: ExecutionKey): Promise<boolean>;
  /** Its state as JSON text; `undefined` when no other node runs it. Never rejects. */
  soFar(key: ExecutionKey): Promise<string | undefined>;
}
