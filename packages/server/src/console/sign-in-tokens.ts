import { randomBytes } from 'node:crypto';
import type { Clock } from '@dragoman/core';

/** The keys that a sign-in hands to the console: an agent's, the administrator's, or both. */
export interface SignInKeys {
  readonly key?: string;
  readonly admin_key?: string;
}

/** One-time tokens for links that open the console signed in, so that no key is ever part of a URL. In memory only. */
export class SignInTokens {
  readonly #clock: Clock;
  readonly #issued = new Map<string, { readonly keys: SignInKeys; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(keys: SignInKeys): string {
    // The map is bounded; a start of the server needs only a few tokens.
    if (this.#issued.size >= MOST_TOKENS) this.#issued.delete(this.#issued.keys().next().value ?? '');
    const token = randomBytes(32).toString('base64url');
    this.#issued.set(token, { keys, until: this.#clock.elapsed() + TOKEN_MS });
    return token;
  }

  /** Returns the keys of a token once. `undefined` for a token that is unknown, used or expired. */
  redeem(token: string): SignInKeys | undefined {
    const found = this.#issued.get(token);
    this.#issued.delete(token);
    return found !== undefined && this.#clock.elapsed() < found.until ? found.keys : undefined;
  }
}

const MOST_TOKENS = 16;
/** 15 minutes. */
const TOKEN_MS = 900_000;
