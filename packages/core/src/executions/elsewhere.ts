import type { ExecutionKey } from '../store/executions.ts';
import type { ExecutionEventRecord } from './live-execution.ts';

/** The executions that other nodes run. Absent where one process owns the store. */
export interface ExecutionsElsewhere {
  /** Makes the node that runs it end it. False when no node runs it. Never rejects. */
  cancel(key: ExecutionKey): Promise<boolean>;
  /** Whether another node runs it now. */
  isRunning(key: ExecutionKey): Promise<boolean>;
  /** What the node that runs it tells after a number, without its end: nothing where it tells nothing for some seconds. Never rejects. */
  told(key: ExecutionKey, after: number): Promise<readonly ExecutionEventRecord[]>;
}
