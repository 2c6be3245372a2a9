import { failureOf, type Limiter, type Principal, type WindowState } from '@dragoman/core';
import type { Failure } from '@dragoman/protocols';

/** Counts a request against its caller's limits: where the caller stands then, also when it may not go on. */
export function countRequest(
  limiter: Limiter,
  principal: Principal,
): { readonly states: readonly WindowState[]; readonly refused?: Failure } {
  try {
    return { states: limiter.request(principal) };
  } catch (error) {
    const refused = failureOf(error);
    if (refused === undefined) throw error;
    return { states: limiter.states(principal), refused };
  }
}
