import type { Engine, Store } from '@dragoman/core';
import type { Route } from '../http/route.ts';
import { type CounterReading, READING_EVERY_MS, type RecentHour } from '../metrics/recent-hour.ts';
import type { RequestMeter } from '../metrics/request-meter.ts';
import type { EdgeLoad } from '../metrics/server-metrics.ts';

export interface OverviewContext {
  readonly engine: Engine;
  readonly meter: RequestMeter;
  readonly hour: RecentHour;
  readonly edge: () => EdgeLoad;
  readonly version: string;
  readonly startedAt: Date;
}

/** How the whole server stands, and stood during the last hour: for a page that somebody keeps open. */
export function adminOverviewRoute({ engine, meter, hour, edge, version, startedAt }: OverviewContext): Route {
  return {
    method: 'GET',
    path: '/admin/v1/overview',
    access: 'admin',
    counts: false,
    summary:
      'Numbers of the whole server now, since its start, and every ten seconds of the last hour. Counters only grow; running and waiting are gauges.',
    handle: async () => ({
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      json: {
        version,
        started_at: startedAt.toISOString(),
        now: { ...(await hour.now()) },
        every_ms: READING_EVERY_MS,
        history: hour.readings.map((reading) => ({ ...reading })),
        outcomes: Object.fromEntries(engine.runs.table.counts.finished('request')),
        rate_limited: engine.limiter.refusals,
        edge: { ...edge() },
        routes: meter.busiest(12),
      },
    }),
  };
}

/** Reads the counters that the history is made of. */
export async function readCounters(engine: Engine, store: Store): Promise<CounterReading> {
  const { counts, load } = engine.runs.table;
  const finished = counts.finished('request');
  const succeeded = finished.get('succeeded') ?? 0;
  const ended = [...finished.values()].reduce((total, count) => total + count, 0);
  const { running, waiting } = load.request;
  const commits = (await store.stats?.())?.commits ?? 0;
  return {
    accepted: counts.accepted.request,
    succeeded,
    failed: ended - succeeded,
    frames: counts.frames,
    commits,
    running,
    waiting,
  };
}
