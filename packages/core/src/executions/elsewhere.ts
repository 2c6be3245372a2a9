import type { ExecutionKey } from '../store/executions.ts';

/** The executions that other nodes run. Absent where one process owns the store. */
export interface ExecutionsElsewhere {
  /** Makes the node that runs it end it. False when no node runs it. Never rejects. */
  cancel(key: ExecutionKey): Promise<boolean>;
}
