import type { LongText } from '../long-text.ts';
import type { ExecutionRow } from '../store/executions.ts';
import { type ExecutionEvent, type LiveExecution, pastEvents } from './live-execution.ts';

/** An execution that was asked for: its answer, and what is told on the way. */
export interface Begun {
  readonly executionId: string;
  /** How it ended, as JSON text, as soon as that is recorded. */
  result(): Promise<string | LongText>;
  /** What is told after a number, to the end. */
  events(after: number): AsyncIterable<ExecutionEvent>;
}

/** One that runs. */
export function begunNow(live: LiveExecution): Begun {
  return { executionId: live.row.executionId, result: () => live.ended, events: (after) => live.read(after) };
}

/** One that has ended, from its record. */
export function begunBefore(row: ExecutionRow, result: string | LongText): Begun {
  return {
    executionId: row.executionId,
    result: async () => result,
    events: (after) => pastEvents(row, after),
  };
}
