import type { Issue } from '../outcome.ts';
import { MORE_PROBLEMS, MOST_PROBLEMS } from '../validation.ts';
import { dataFlow } from './check/flow.ts';
import { loopCost, size, withinDeadline } from './check/limit.ts';
import { nearTemplates } from './check/near-template.ts';
import { numbersAsText } from './check/number-text.ts';
import { allowedCallees, allowedOperations, knownWorkflows, usableCredentials } from './check/permission.ts';
import { type CheckContext, type Draft, examine, type Rule } from './check/rule.ts';
import { type Severity, severityOf } from './check/severity.ts';
import { acyclic, allReached, cleanOrder, definedReferences, knownTypes, knownValues } from './check/structure.ts';
import { destinations } from './check/url.ts';
import type { Workflow } from './document.ts';

export interface Finding extends Issue {
  readonly severity: Severity;
  /**
   * The operation of the finding: `pointer` is relative to its line. Without it, `pointer` is relative to
   * `beginExecution`.
   */
  readonly operationId?: string;
}

/**
 * All problems of a workflow that can be found before it runs. Nothing is executed or sent to
 * the network, and every level applies every rule. Beyond a hundred errors and a hundred warnings, the
 * rest is not listed.
 */
export function checkWorkflow(workflow: Workflow, context: CheckContext = {}): readonly Finding[] {
  const subject = examine(workflow, context);
  const level = context.level ?? 'moderate';
  const findings = new Map<string, Finding>();
  const counts = { error: 0, warning: 0 };
  for (const rule of RULES) {
    for (const draft of rule(subject)) {
      const severity = severityOf(draft.code, level);
      if (counts[severity] >= MOST_PROBLEMS) continue;
      // An operation that is reached in two ways is checked twice but reported once.
      const key = JSON.stringify([draft.operationId, draft.pointer, draft.code, draft.message]);
      if (findings.has(key)) continue;
      counts[severity]++;
      findings.set(key, asFinding(draft, severity));
    }
  }
  const full = (['error', 'warning'] as const).filter((severity) => counts[severity] >= MOST_PROBLEMS);
  return [...findings.values(), ...full.map((severity): Finding => ({ severity, ...MORE_PROBLEMS }))];
}

function asFinding({ operationId, ...issue }: Draft, severity: Severity): Finding {
  return { severity, ...(operationId !== undefined && { operationId }), ...issue };
}

/** Every rule, in reporting order. A new rule is a line here. */
const RULES: readonly Rule[] = [
  knownTypes,
  knownValues,
  definedReferences,
  acyclic,
  cleanOrder,
  allReached,
  dataFlow,
  nearTemplates,
  numbersAsText,
  allowedOperations,
  allowedCallees,
  knownWorkflows,
  destinations,
  usableCredentials,
  size,
  loopCost,
  withinDeadline,
];
