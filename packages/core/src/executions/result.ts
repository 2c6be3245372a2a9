import type { Json, JsonObject } from '@dragoman/protocols';
import type { Finding, WorkflowError } from '@dragoman/protocols/a2e-workflow';
import type { ExecutionRow } from '../store/executions.ts';
import { type LongText, longBetween } from '../text/long-text.ts';
import type { PoolResult } from '../workflow/pool-messages.ts';

/**
 * The result of an execution, as its owner receives it (A2E, API Reference). The operations' results are JSON text
 * already.
 */
export function resultText(row: ExecutionRow, run: EndedRun, endedAt: number): string | LongText {
  const { status, results, skipped, errors, warnings = [] } = run;
  // Ids, statuses and times contain no characters to escape.
  const head = `{"execution_id":"${row.executionId}","status":"${status}","results":`;
  let tail = '';
  if (skipped.length > 0) tail += `,"skipped":${JSON.stringify(skipped)}`;
  tail += `,"duration_ms":${Math.max(0, endedAt - row.acceptedAt)}`;
  tail += `,"started_at":"${timeText(row.acceptedAt)}","completed_at":"${timeText(endedAt)}"`;
  if (errors.length > 0) tail += `,"error":${JSON.stringify(errors[0])}`;
  if (errors.length > 1) tail += `,"errors":${JSON.stringify(errors)}`;
  if (warnings.length > 0) tail += `,"warnings":${JSON.stringify(warnings)}`;
  tail += '}';
  return results instanceof Uint8Array ? longBetween(head, results, tail) : head + results + tail;
}

/** The time as ISO 8601. The text of the last second is reused: within it only three digits change. */
function timeText(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== lastSecond.is) lastSecond = { is: second, text: new Date(second * 1000).toISOString().slice(0, -4) };
  return `${lastSecond.text}${String(milliseconds - second * 1000).padStart(3, '0')}Z`;
}

let lastSecond = { is: 0, text: '1970-01-01T00:00:00.' };

/** How an execution ended. */
export interface EndedRun extends Pick<PoolResult, 'status' | 'results' | 'skipped' | 'errors'> {
  /** The warnings that `validate` reports. */
  readonly warnings?: readonly Finding[];
}

/** The end of an execution that could not be continued after a restart. */
export function failedRun(error: WorkflowError): EndedRun {
  return { status: 'error', results: '{}', skipped: [], errors: [error] };
}

/** The results of finished operations in a running execution. */
export interface ResultsSoFar {
  readonly values: Map<string, Json>;
  /** Operations whose result is too long to be shown before the end. */
  readonly omitted: Set<string>;
}

export const NO_RESULTS: ResultsSoFar = { values: new Map(), omitted: new Set() };

/** The state of an execution that runs, or waits for its turn. */
export function runningResult(
  { executionId, acceptedAt }: ExecutionRow,
  { values, omitted }: ResultsSoFar,
): JsonObject {
  return {
    execution_id: executionId,
    status: 'running',
    results: Object.fromEntries(values),
    ...(omitted.size > 0 && { results_omitted: [...omitted] }),
    started_at: new Date(acceptedAt).toISOString(),
  };
}
