import { failure } from '@dragoman/protocols';

/** The end of an execution that took all the time it had. */
export const OUT_OF_TIME = failure(
  'timeout',
  { suggestions: ['set a larger timeout_ms, or do less in one execution'] },
  'The execution ran out of time.',
);
