import { type Failure, failure, type Issue, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { a2eWorkflowDialect, type RunOptions, type Workflow } from '@dragoman/protocols/a2e-workflow';

/** A workflow somebody wants checked, planned or run, and how. */
export interface Asked {
  readonly workflow: Workflow;
  readonly options: RunOptions;
  /** The JSON lines as they came. */
  readonly text: string;
  /** What was tolerated in reading it. */
  readonly warnings: readonly Issue[];
}

/**
 * Reads the body of validate, plan and execute. `failure`: it is no such body. `issues`: it is one, and the lines in it are
 * wrong, which `validate` tells as its result.
 */
export type AskedOutcome =
  | { readonly ok: true; readonly asked: Asked }
  | { readonly ok: false; readonly issues: readonly Issue[] }
  | { readonly ok: false; readonly failure: Failure };

export function decodeAsked(json: Json, now: Date): AskedOutcome {
  if (!isObject(json) || typeof json['workflow'] !== 'string') return { ok: false, failure: NO_WORKFLOW };
  const outcome = a2eWorkflowDialect.decode(json, now);
  if (!outcome.ok) {
    const ofTheBody = outcome.issues.filter(({ pointer }) => !pointer.startsWith('/workflow'));
    if (ofTheBody.length === 0) return { ok: false, issues: outcome.issues };
    return { ok: false, failure: failure('invalid_message', { issues: ofTheBody }, ofTheBody[0]?.message) };
  }
  if (outcome.value.kind !== 'workflow') return { ok: false, failure: NO_WORKFLOW };
  const { workflow, options } = outcome.value;
  return { ok: true, asked: { workflow, options, text: json['workflow'], warnings: outcome.warnings } };
}

/** What is recorded, so that a restart can read it again. */
export function requestText({ text, options }: Asked): string {
  return JSON.stringify({ workflow: text, ...options } satisfies JsonObject);
}

const NO_WORKFLOW = failure(
  'invalid_message',
  {
    issues: [
      {
        pointer: '/workflow',
        code: 'required',
        message: 'workflow must be a string of JSON lines',
        suggestion: 'send {"workflow": "…"}, or the lines themselves as application/jsonl',
      },
    ],
  },
  'workflow must be a string of JSON lines.',
);
