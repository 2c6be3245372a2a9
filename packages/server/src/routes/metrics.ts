import type { Route } from '../http/route.ts';
import { EXPOSITION_TYPE, Exposition } from '../metrics/exposition.ts';
import type { Metric } from '../metrics/metric.ts';

/** Metrics for Prometheus. Public, like the health check: they are totals of the server and name no caller. */
export function metricsRoute(measure: () => Promise<readonly Metric[]>): Route {
  const exposition = new Exposition();
  return {
    method: 'GET',
    path: '/metrics',
    access: 'public',
    counts: false,
    summary: 'Metrics for Prometheus.',
    answers: { 'text/plain': { type: 'string' } },
    handle: async () => ({
      status: 200,
      headers: { 'Content-Type': EXPOSITION_TYPE, 'Cache-Control': 'no-store' },
      text: await exposition.text(await measure()),
    }),
  };
}
