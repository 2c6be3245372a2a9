import { type E2AResponse, FAILURES, type Failure } from '@dragoman/protocols';
import type { RunKind } from './active-run.ts';

/** How many runs and frames there were since the start: numbers only, nothing of whose they are. */
export class RunCounts {
  /** Frames recorded. */
  frames = 0;
  /** Runs that were taken in, without repeats. */
  readonly accepted: Record<RunKind, number> = { execution: 0, request: 0, tool: 0 };
  /** Runs that came to their end, by outcome. */
  readonly #finished: Record<RunKind, Map<string, number>> = {
    execution: new Map(),
    request: new Map(),
    tool: new Map(),
  };

  finish(kind: RunKind, outcome: string): void {
    const finished = this.#finished[kind];
    finished.set(outcome, (finished.get(outcome) ?? 0) + 1);
  }

  finished(kind: RunKind): ReadonlyMap<string, number> {
    return this.#finished[kind];
  }
}

/** The code of a failure, or `succeeded`. Agents make up codes of their own, which all count as `failed`. */
export function outcomeOfFrame({ status, body }: E2AResponse): string {
  if (status !== 'failed') return SUCCEEDED;
  const code = body['code'];
  return typeof code === 'string' && OUR_CODES.has(code) ? code : FAILED;
}

export function outcomeOfFailure(known: Failure | undefined): string {
  return known === undefined ? FAILED : FAILURES[known.code].e2a;
}

export const SUCCEEDED = 'succeeded';
export const FAILED = 'failed';
const OUR_CODES: ReadonlySet<string> = new Set(Object.values(FAILURES).map((row) => row.e2a));
