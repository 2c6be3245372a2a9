import type { WindowState } from '@dragoman/core';
import type { LimitState } from './rate-fields.ts';

/** Where a caller stands in its windows, as the header fields tell it: the one with the least left first. */
export function tightestFirst(states: readonly WindowState[]): LimitState[] {
  return states.map(limitState).sort((a, b) => a.remaining / a.limit - b.remaining / b.limit);
}

function limitState({ window, remaining, resetAt }: WindowState): LimitState {
  const name = window.name.replace('requests_per_', '');
  return { name, limit: window.limit, remaining, windowSeconds: window.seconds, resetAt };
}
