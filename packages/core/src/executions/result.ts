import type { JsonObject } from '@dragoman/protocols';
import type { ExecutionResult, WorkflowError } from '@dragoman/protocols/a2e-workflow';
import type { ExecutionRow } from '../store/executions.ts';
import type { RunResult } from '../workflow/run.ts';

/** How an execution ended, as its owner is told (A2E, API Reference). */
export function resultOf(row: ExecutionRow, run: EndedRun, endedAt: number): ExecutionResult {
  const { status, results, skipped, errors } = run;
  const [error] = errors;
  return {
    execution_id: row.executionId,
    status,
    results: Object.fromEntries(results),
    ...(skipped.length > 0 && { skipped: [...skipped] }),
    duration_ms: Math.max(0, endedAt - row.acceptedAt),
    started_at: new Date(row.acceptedAt).toISOString(),
    completed_at: new Date(endedAt).toISOString(),
    ...(error !== undefined && { error }),
    ...(errors.length > 1 && { errors: [...errors] }),
  };
}

/** What an execution has to show for itself at its end. */
export type EndedRun = Pick<RunResult, 'status' | 'results' | 'skipped' | 'errors'>;

/** An execution that could not even begin, after a restart. */
export function failedRun(error: WorkflowError): EndedRun {
  return { status: 'error', results: new Map(), skipped: [], errors: [error] };
}

/** What is told of one that is under way. */
export function runningResult({ executionId, acceptedAt }: ExecutionRow): JsonObject {
  return { execution_id: executionId, status: 'running', results: {}, started_at: new Date(acceptedAt).toISOString() };
}
