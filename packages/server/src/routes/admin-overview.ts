import type { Engine, Store } from '@dragoman/core';
import type { FailedLogins } from '../callers/failed-logins.ts';
import type { Route } from '../http/route.ts';
import { type CounterReading, READING_EVERY_MS, type RecentHour } from '../metrics/recent-hour.ts';
import type { RequestMeter } from '../metrics/request-meter.ts';
import type { EdgeLoad } from '../metrics/server-metrics.ts';
import { agentFigures, agentsDown } from './agent-figures.ts';

export interface OverviewContext {
  readonly engine: Engine;
  readonly meter: RequestMeter;
  readonly hour: RecentHour;
  readonly edge: () => EdgeLoad;
  readonly failedLogins: FailedLogins;
  readonly version: string;
  readonly startedAt: Date;
}

/** The state of the server, now and during the last hour, for a dashboard. */
export function adminOverviewRoutes(context: OverviewContext): Route[] {
  return [overviewRoute(context), failedLoginsRoute(context)];
}

function overviewRoute({ engine, meter, hour, edge, failedLogins, version, startedAt }: OverviewContext): Route {
  return {
    method: 'GET',
    path: '/admin/v1/overview',
    access: 'admin',
    counts: false,
    summary:
      'Numbers of the whole server: now, since the start by outcome, protocol, agent and route, the agents that are down, and every ten seconds of the last hour.',
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
        by_protocol: Object.fromEntries(engine.runs.table.counts.byProtocol),
        by_agent: await busiestAgents(engine),
        agents_down: await agentsDown(engine),
        rate_limited: engine.limiter.refusals,
        failed_logins: failedLogins.total,
        edge: { ...edge() },
        routes: meter.busiest(12),
      },
    }),
  };
}

/** The addresses that sent wrong keys, and how often. The keys are not recorded. */
function failedLoginsRoute({ failedLogins }: OverviewContext): Route {
  return {
    method: 'GET',
    path: '/admin/v1/failed-logins',
    access: 'admin',
    counts: false,
    summary: 'Failed logins since the start: their number, and the last 100 addresses, latest first.',
    handle: () => ({
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      json: {
        total: failedLogins.total,
        recent: failedLogins.recent.map(({ address, count, firstAt, lastAt }) => ({
          address,
          count,
          first_at: firstAt.toISOString(),
          last_at: lastAt.toISOString(),
        })),
      },
    }),
  };
}

/** The agents with requests since the start, those with the most requests first. */
function busiestAgents(engine: Engine) {
  const figuresOf = agentFigures(engine);
  const busiest = [...engine.runs.table.counts.byAgent]
    .sort(([, one], [, other]) => other.accepted - one.accepted)
    .slice(0, MOST_AGENTS_SHOWN);
  return Promise.all(busiest.map(async ([agent]) => ({ ...(await figuresOf(agent)) })));
}

const MOST_AGENTS_SHOWN = 200;

/** Reads the counters of the history. */
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
