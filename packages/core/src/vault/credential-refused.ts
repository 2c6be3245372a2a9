import { type Failure, failure } from '@dragoman/protocols';

/** The same answer for a credential that does not exist, is not granted, or is not bound to the host: the difference would reveal others. */
export function credentialRefused(id: string): Failure {
  return failure('forbidden', {}, `The credential ${JSON.stringify(id)} cannot be used here.`);
}
