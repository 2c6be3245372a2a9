import { type Failure, failure } from '@dragoman/protocols';

/** One answer for one that does not exist, is not the caller's, or may not go there: which it is would tell of others'. */
export function credentialRefused(id: string): Failure {
  return failure('forbidden', {}, `The credential ${JSON.stringify(id)} cannot be used here.`);
}
