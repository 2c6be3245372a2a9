import { type Json, show } from '@dragoman/protocols';
import { isPathReference } from '@dragoman/protocols/a2e-workflow';
import { compileTest, type Test } from './condition.ts';
import type { Compiling, StepContext } from './operation.ts';

/**
 * The operator and right side of a condition. The right side may be a path, whose value is known when the step runs.
 */
export interface Comparison {
  readonly rightOf: (step: StepContext) => Json;
  readonly testOf: (right: Json) => Test;
}

export function compileComparison(operator: string, value: Json, pointer: string, compiling: Compiling): Comparison {
  if (compileTest(operator, null) === undefined) {
    compiling.problem(`${pointer}/operator`, `operator ${show(operator)} is unknown`);
  }
  const make = (right: Json): Test => compileTest(operator, right) ?? (() => false);
  if (isPathReference(value)) {
    const path = compiling.path(value.path);
    return { rightOf: (step) => step.read(path), testOf: make };
  }
  const fixed = make(value);
  return { rightOf: () => value, testOf: () => fixed };
}
