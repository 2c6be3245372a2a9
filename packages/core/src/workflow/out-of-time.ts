import { failure } from '@dragoman/protocols';

/** The error of an execution that exceeded its time. */
export const OUT_OF_TIME = failure(
  'timeout',
  { suggestions: ['set a larger timeout_ms, or do less in one execution'] },
  'The execution ran out of time.',
);
