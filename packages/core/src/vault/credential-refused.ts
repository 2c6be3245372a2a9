import { type Failure, failure } from '@dragoman/protocols';

/**
 * The failure for a credential that does not exist, is not granted, or is not bound to the host. It does not tell
 * which, because that would reveal other callers' credentials.
 */
export function credentialRefused(id: string): Failure {
  return failure('forbidden', {}, `The credential ${JSON.stringify(id)} cannot be used here.`);
}
