import type { Workflow, WorkflowOperation } from './document.ts';
import { usesOf } from './member.ts';
import { type OwnOperations, operationNamed } from './operation.ts';

/** The order without the targets of Conditionals and Loops, which run only when reached. */
export function runOrder({ order, operations }: Omit<Workflow, 'executionId'>, own?: OwnOperations): readonly string[] {
  const targets = new Set([...operations.values()].flatMap((operation) => targetIdsOf(operation, own)));
  return targets.size === 0 ? order : order.filter((id) => !targets.has(id));
}

/** Leaves out an operation's own id: the checker reports that cycle. */
function targetIdsOf({ id, type, config }: WorkflowOperation, own?: OwnOperations): readonly string[] {
  const description = operationNamed(type, own);
  if (description === undefined) return [];
  return usesOf(description, config)
    .targets.map((target) => target.id)
    .filter((target) => target !== id);
}
