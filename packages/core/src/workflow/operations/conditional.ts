import type { Json } from '@dragoman/protocols';
import { type ConditionalConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { compileComparison } from '../comparison.ts';
import type { Operation } from '../operation.ts';

/** Runs one list of operations or another (A2E, Conditional). Its result says which. */
export const conditional: Operation<ConditionalConfig> = {
  description: OPERATIONS.Conditional,
  compile({ condition, ifTrue, ifFalse = [] }, compiling) {
    const path = compiling.path(condition.path);
    const value = (condition.value ?? null) as Json;
    const { rightOf, testOf } = compileComparison(condition.operator, value, '/condition', compiling);
    const asksWhetherThere = condition.operator === 'exists' || condition.operator === 'empty';
    return async (step) => {
      const left = asksWhetherThere ? step.find(path) : step.read(path);
      const met = testOf(rightOf(step))(left);
      const operations = met ? ifTrue : ifFalse;
      await step.run(operations);
      return { condition_met: met, branch: met ? 'ifTrue' : 'ifFalse', execute: [...operations] };
    };
  },
};
