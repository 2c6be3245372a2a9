import type { Clock } from '@dragoman/core';

/** The moment as HTTP writes it (RFC 9110 §5.6.7). It has whole seconds, so it is worded once in each. */
export function httpDate(clock: Clock): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const now = clock.now();
    const current = Math.floor(now.getTime() / 1000);
    if (current !== second) {
      second = current;
      text = now.toUTCString();
    }
    return text;
  };
}
