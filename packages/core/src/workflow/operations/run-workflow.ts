import { isObject, type Json } from '@dragoman/protocols';
import { OPERATIONS, type RunWorkflowConfig } from '@dragoman/protocols/a2e-workflow';
import { compileObject } from '../json-value.ts';
import type { Operation } from '../operation.ts';

/** Runs a stored workflow; the result is an object with the results of its operations, by id. */
export const runWorkflow: Operation<RunWorkflowConfig> = {
  description: OPERATIONS.RunWorkflow,
  callsApi: true,
  hasEffect: () => true,
  compile({ name, inputs, timeout }, compiling) {
    const params = compileObject(inputs as Json | undefined, compiling);
    return async (step) => {
      const answer = await step.ask({ target: 'workflows', method: name, params: params(step), timeoutMs: timeout });
      return (isObject(answer) ? answer['results'] : undefined) ?? {};
    };
  },
};
