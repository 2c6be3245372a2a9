import type { Json, JsonObject } from '@dragoman/protocols';
import { readWorkflow } from '@dragoman/protocols/a2e-workflow';
import { compilePlan, type Plan, type PlanContext } from '../src/workflow/plan.ts';

/** The plan of operations by id. Default: they run in the order they stand in. */
export function planOf(
  operations: Readonly<Record<string, object>>,
  { order = Object.keys(operations), ...context }: PlanContext & { readonly order?: readonly string[] } = {},
): Plan {
  const compiled = compiledFrom(operations, { order, ...context });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.findings));
  return compiled.plan;
}

export function compiledFrom(
  operations: Readonly<Record<string, object>>,
  { order = Object.keys(operations), ...context }: PlanContext & { readonly order?: readonly string[] } = {},
) {
  const lines = Object.entries(operations).map(([operationId, operation]) => ({
    type: 'operationUpdate',
    operationId,
    operation: operation as JsonObject,
  }));
  const begin = { type: 'beginExecution', executionId: 'test', operationOrder: [...order] };
  const own = context.catalog?.own ?? {};
  const read = readWorkflow([...lines, begin] as Json[], { operations: own });
  if (!read.ok) throw new Error(JSON.stringify(read.issues));
  return compilePlan(read.value, context);
}
