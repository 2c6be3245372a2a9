import { failureOf, type Limiter, type Principal, type WindowState } from '@dragoman/core';
import type { Failure } from '@dragoman/protocols';

/** Counts a request against its caller's limits and returns their state, even if the request is refused. */
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
