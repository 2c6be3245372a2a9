import type { Window, WindowState } from '@dragoman/core';
import type { LimitState } from '../http/count.ts';

/** Where a caller stands in its windows, as the header fields tell it: the one with the least left first. */
export function tightestFirst(states: readonly WindowState[]): LimitState[] {
  const told: LimitState[] = [];
  // Put in place one by one: there are three of them, for every request.
  for (const { window, remaining, resetAt } of states) {
    const { limit, seconds: windowSeconds } = window;
    let at = told.length;
    for (let before = told[at - 1]; before !== undefined; before = told[at - 1]) {
      if (before.remaining * limit <= remaining * before.limit) break;
      told[at] = before;
      at--;
    }
    told[at] = { name: nameOf(window), limit, remaining, windowSeconds, resetAt };
  }
  return told;
}

function nameOf({ name }: Window): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

const PREFIX = 'requests_per_';
