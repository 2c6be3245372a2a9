import { OPERATIONS, type WaitConfig } from '@dragoman/protocols/a2e-workflow';
import type { Operation } from '../operation.ts';

/** Waits (A2E, Wait). The execution records when the wait ends, so it survives a restart. */
export const wait: Operation<WaitConfig> = {
  description: OPERATIONS.Wait,
  hasEffect: () => true,
  compile({ duration }) {
    return async (step) => {
      await step.wait(duration);
      return { waited_ms: duration };
    };
  },
};
