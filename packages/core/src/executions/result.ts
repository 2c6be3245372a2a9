import type { JsonObject } from '@dragoman/protocols';
import type { WorkflowError } from '@dragoman/protocols/a2e-workflow';
import type { ExecutionRow } from '../store/executions.ts';
import type { PoolResult } from '../workflow/pool-messages.ts';

/** How an execution ended, as its owner is told (A2E, API Reference). The results are text already, and stay it. */
export function resultText(row: ExecutionRow, run: EndedRun, endedAt: number): string {
  const { status, results, skipped, errors } = run;
  const [error] = errors;
  const head = JSON.stringify({ execution_id: row.executionId, status });
  const tail = JSON.stringify({
    ...(skipped.length > 0 && { skipped }),
    duration_ms: Math.max(0, endedAt - row.acceptedAt),
    started_at: new Date(row.acceptedAt).toISOString(),
    completed_at: new Date(endedAt).toISOString(),
    ...(error !== undefined && { error }),
    ...(errors.length > 1 && { errors }),
  });
  return `${head.slice(0, -1)},"results":${results},${tail.slice(1)}`;
}

/** What an execution has to show for itself at its end. */
export type EndedRun = Pick<PoolResult, 'status' | 'results' | 'skipped' | 'errors'>;

/** An execution that could not even begin, after a restart. */
export function failedRun(error: WorkflowError): EndedRun {
  return { status: 'error', results: '{}', skipped: [], errors: [error] };
}

/** What is told of one that is under way. */
export function runningResult({ executionId, acceptedAt }: ExecutionRow): JsonObject {
  return { execution_id: executionId, status: 'running', results: {}, started_at: new Date(acceptedAt).toISOString() };
}
