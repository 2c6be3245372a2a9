import * as validators from '../generated/a2e-workflow.js';
import type { JsonObject } from '../json.ts';
import { accept, type Issue, type Outcome } from '../outcome.ts';
import { issuesOf } from '../validation.ts';
import { parseWorkflow, type ReadOptions, readWorkflow, type Workflow } from './document.ts';
import { forbidden, TOLERATED } from './line.ts';
import { LEVELS, WorkflowRequest } from './message.ts';

/** The options for checking and running a workflow. */
export type WorkflowRunOptions = Omit<WorkflowRequest, 'workflow'>;

/** Reads the body of validate, plan and execute. */
export function decodeRequest(
  json: JsonObject,
  { lenient = false, operations = {}, jsonLimits = {} }: Omit<ReadOptions, 'level' | 'at'> = {},
): Outcome<{ readonly workflow: Workflow; readonly options: WorkflowRunOptions }> {
  const { validate, ...body } = json;
  const tolerant = lenient || body['level'] === 'lenient';
  const warnings: Issue[] = [];
  if (validate !== undefined) warnings.push(cannotSwitchOff());
  const issues: Issue[] = [];
  for (const issue of issuesOf(validators.WorkflowRequest, WorkflowRequest, body).map(forbidden)) {
    (tolerant && TOLERATED.has(issue.code) ? warnings : issues).push(repaired(issue));
  }
  const { workflow, ...options } = body as WorkflowRequest;
  if (typeof workflow !== 'string' && !Array.isArray(workflow)) return { ok: false, issues };
  const level = LEVELS.find((name) => name === options.level);
  const reading: ReadOptions = {
    at: '/workflow',
    lenient: tolerant,
    operations,
    jsonLimits,
    ...(level !== undefined && { level }),
  };
  const parsed = typeof workflow === 'string' ? parseWorkflow(workflow, reading) : readWorkflow(workflow, reading);
  if (!parsed.ok) return { ok: false, issues: [...issues, ...parsed.issues] };
  if (issues.length > 0) return { ok: false, issues };
  return accept({ workflow: parsed.value, options }, [...warnings, ...parsed.warnings]);
}

/** An invalid option gets the suggestion to leave it out, with its default. */
function repaired(issue: Issue): Issue {
  const suggestion = WITHOUT.get(issue.pointer);
  return issue.suggestion !== undefined || suggestion === undefined ? issue : { ...issue, suggestion };
}

const WITHOUT: ReadonlyMap<string, string> = new Map([
  ['/onError', 'leave onError out to stop at the first error'],
  ['/level', 'leave level out for moderate'],
  ['/timeout_ms', "give whole milliseconds, or leave timeout_ms out for the server's own"],
]);

/** Other servers let callers turn off all checks, including permissions. This one does not. */
function cannotSwitchOff(): Issue {
  return {
    pointer: '/validate',
    code: 'ignored',
    message: 'validate has no effect: every workflow is checked before it runs',
    suggestion: 'choose how strictly with level: strict, moderate or lenient',
  };
}
