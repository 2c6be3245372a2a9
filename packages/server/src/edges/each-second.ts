import type { Clock } from '@dragoman/core';

/** Calls `report` at most once a second, with the number of events since: a flood must not become a flood of log lines. */
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
