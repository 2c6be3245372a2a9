import type { Window, WindowState } from '@dragoman/core';
import type { LimitState } from '../http/count.ts';

/** The state of a caller's windows for the header fields, the window with the smallest remaining share first. */
export function tightestFirst(states: readonly WindowState[]): LimitState[] {
  const sorted: LimitState[] = [];
  // Insertion sort: each request has about three windows.
  for (const { window, remaining, resetAt } of states) {
    const { limit, seconds: windowSeconds } = window;
    let at = sorted.length;
    for (let before = sorted[at - 1]; before !== undefined; before = sorted[at - 1]) {
      if (before.remaining * limit <= remaining * before.limit) break;
      sorted[at] = before;
      at--;
    }
    sorted[at] = { name: nameOf(window), limit, remaining, windowSeconds, resetAt };
  }
  return sorted;
}

function nameOf({ name }: Window): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

const PREFIX = 'requests_per_';
