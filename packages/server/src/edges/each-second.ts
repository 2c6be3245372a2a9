import type { Clock } from '@dragoman/core';

/**
 * Calls `report` at most once a second, with the number of events since the last call, so that a flood does not fill
 * the log.
 */
export function eachSecond(clock: Clock, report: (count: number) => void): () => void {
  let count = 0;
  let reportedAt: number | undefined;
  return () => {
    count += 1;
    if (reportedAt !== undefined && clock.elapsed() - reportedAt < 1_000) return;
    reportedAt = clock.elapsed();
    report(count);
    count = 0;
  };
}
