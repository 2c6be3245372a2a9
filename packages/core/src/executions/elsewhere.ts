import type { ExecutionKey } from '../store/executions.ts';

/** The executions that other nodes run. Absent where one process owns the store. */
export interface ExecutionsElsewhere {
  /** Has the node that runs it end it. False when nobody runs it. Never rejects. */
  cancel(key: ExecutionKey): Promise<boolean>;
}
