import type { ExecutionKey } from '../store/executions.ts';
import type { ExecutionEventRecord } from './live-execution.ts';

export interface WaitOptions {
  /** Whether to wait some seconds for events if there are none yet. Default: true. */
  readonly waits?: boolean;
}

/** The executions that other nodes run. Absent where one process owns the store. */
export interface ExecutionsElsewhere {
  /** Asks the node that runs the execution to end it. False when no node runs it. Never rejects. */
  cancel(key: ExecutionKey): Promise<boolean>;
  /** Whether another node runs the execution now. */
  isRunning(key: ExecutionKey): Promise<boolean>;
  /**
   * The events of the execution after a number, without the final one. Empty if none arrived within some seconds, or at
   * once with `waits: false`. Never rejects.
   */
  eventsAfter(key: ExecutionKey, after: number, options?: WaitOptions): Promise<readonly ExecutionEventRecord[]>;
  /** Whether the execution waits for a person. False is returned only after some seconds. Never rejects. */
  isParked(key: ExecutionKey): Promise<boolean>;
  /** The state of the execution as JSON text; `undefined` when no other node runs it. Never rejects. */
  soFar(key: ExecutionKey): Promise<string | undefined>;
}
