import type { Engine, Principal, ProofFailures } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { addressGroup } from '../edges/address.ts';
import type { FailedLogins } from './failed-logins.ts';

/**
 * Finds the owner of a key, for every endpoint. Wrong keys are counted by address, and after too many in a minute the
 * address has to wait. A caller with a valid key is never limited by its address: keys are too long to be guessed, so a
 * flood of wrong keys from behind the same proxy does not lock it out.
 */
export class KeyCheck {
  readonly #engine: Engine;
  readonly #proofFailures: ProofFailures;
  readonly #failed: FailedLogins;

  constructor({ engine, proofFailures, failed }: KeyCheckOptions) {
    this.#engine = engine;
    this.#proofFailures = proofFailures;
    this.#failed = failed;
  }

  /** One answer for every invalid key: the reason is not revealed. */
  check(secret: string, address: string): Principal | Failure {
    const { keys, callers } = this.#engine;
    const key = keys.find(secret);
    const principal = key && callers.principalOf(key);
    if (principal !== undefined) return principal;
    // A socket file has no address: its file mode controls access.
    if (address === '') return NO_SUCH_KEY;
    const group = addressGroup(address);
    this.#failed.add(group);
    const refused = this.#proofFailures.refuse(group);
    if (refused !== undefined) return refused;
    this.#proofFailures.failed(group);
    return NO_SUCH_KEY;
  }
}

export interface KeyCheckOptions {
  readonly engine: Engine;
  readonly proofFailures: ProofFailures;
  readonly failed: FailedLogins;
}

const NO_SUCH_KEY = failure(
  'unauthenticated',
  { suggestions: ['ask the operator for another key'] },
  'Invalid API key: it is unknown or was revoked.',
);
