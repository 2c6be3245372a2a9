import type { Route } from '../http/route.ts';

/** Whether this server accepts new work. Public, because a load balancer has no key. */
export function readyRoute(isReady: () => boolean): Route {
  return {
    method: 'GET',
    path: '/ready',
    access: 'public',
    counts: false,
    summary: 'Readiness check: 503 while the server starts or stops, and without its database.',
    handle: () =>
      isReady() ? { status: 200, json: { status: 'ready' } } : { status: 503, json: { status: 'not_ready' } },
  };
}
