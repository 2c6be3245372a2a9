import type { Engine, Principal, Strangers } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { addressGroup } from './edges/address.ts';

/**
 * Whose key it is, the same at every door. Who guesses is slowed down: after so many wrong keys from one address in a minute
 * none of its short keys is tried. A key as long as those we make cannot be guessed, so whoever has a good one comes in whatever
 * others behind the same proxy do.
 */
export class KeyCheck {
  readonly #engine: Engine;
  readonly #strangers: Strangers;

  constructor({ engine, strangers }: { readonly engine: Engine; readonly strangers: Strangers }) {
    this.#engine = engine;
    this.#strangers = strangers;
  }

  /** One answer for every key that does not open: which of the reasons it was is nobody's business. */
  check(secret: string, address: string): Principal | Failure {
    const { keys, callers } = this.#engine;
    const key = keys.find(secret);
    const principal = key && callers.principalOf(key);
    // A socket file has no address: who may open it is decided by the file.
    const isBeyondGuessing = address === '' || (principal !== undefined && secret.length >= UNGUESSABLE);
    const refused = isBeyondGuessing ? undefined : this.#refuse(address, principal);
    return refused ?? principal ?? NO_SUCH_KEY;
  }

  /** A right guess must look like a wrong one, or refusing would slow down nothing. */
  #refuse(address: string, principal: Principal | undefined): Failure | undefined {
    const group = addressGroup(address);
    const refused = this.#strangers.refuse(group);
    if (refused === undefined && principal === undefined) this.#strangers.failed(group);
    return refused;
  }
}

const NO_SUCH_KEY = failure(
  'unauthenticated',
  { suggestions: ['ask the operator for another key'] },
  'Who is calling is not proven: the key is not known here, or was revoked.',
);

/** Characters: 128 random bits as hexadecimal digits. An operator's own admin key may have fewer. */
const UNGUESSABLE = 32;
