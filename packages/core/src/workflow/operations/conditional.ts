import type { Json } from '@dragoman/protocols';
import { type ConditionalConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { compileComparison } from '../comparison.ts';
import { wrongShape } from '../input.ts';
import type { Operation } from '../operation.ts';

/** Runs one of two lists of operations (A2E, Conditional). Its result names the list. */
export const conditional: Operation<ConditionalConfig> = {
  description: OPERATIONS.Conditional,
  compile({ condition, ifTrue, ifFalse = [] }, compiling) {
    const path = compiling.path(condition.path);
    const value = (condition.value ?? null) as Json;
    const { rightOf, testOf } = compileComparison(condition.operator, value, '/condition', compiling);
    const isOrdering = ['<', '>', '<=', '>='].includes(condition.operator);
    const asksWhetherThere = condition.operator === 'exists' || condition.operator === 'empty';
    return async (step) => {
      const left = asksWhetherThere ? step.find(path) : step.read(path);
      // The checker reports this if it knows the type; the type of an API answer is known only now.
      if (isOrdering && typeof left === 'object' && left !== null) {
        throw wrongShape(path, 'a number or a string', left, isOrdered);
      }
      const met = testOf(rightOf(step))(left);
      const operations = met ? ifTrue : ifFalse;
      await step.run(operations);
      return { condition_met: met, branch: met ? 'ifTrue' : 'ifFalse', execute: [...operations] };
    };
  },
};

function isOrdered(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'string';
}
