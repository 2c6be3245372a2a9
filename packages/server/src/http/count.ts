import type { Principal } from '@dragoman/core';
import type { Failure } from '@dragoman/protocols';
import type { Route } from './route.ts';

/** Counts a call against its caller's limits. `principal` is `undefined` for an anonymous call to an open route. */
export type Count = (call: CountedCall) => Counted | Promise<Counted>;

export interface CountedCall {
  readonly principal: Principal | undefined;
  readonly route: Route;
  readonly address: string;
  /** The length of the body. */
  readonly bytes: number;
}

export interface Counted {
  /** Sent in the headers of the answer; the tightest first. */
  readonly limits: readonly LimitState[];
  /** Why the call is refused. */
  readonly failure?: Failure;
  /** Called when the answer is over, for limits on concurrent requests. */
  readonly release?: () => void;
}

/** How much of one limit a caller has left. */
export interface LimitState {
  /** Names the policy in the IETF fields: `minute`. */
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly windowSeconds: number;
  /** When the whole limit is available again, in epoch seconds. */
  readonly resetAt: number;
}
