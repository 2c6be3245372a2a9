import type { Route } from '../route.ts';

/** Whether the server is there. Open: a load balancer has no key. */
export function healthRoute(version: string): Route {
  return {
    method: 'GET',
    path: '/health',
    access: 'public',
    counts: false,
    summary: 'Whether the server is there.',
    handle: () => ({ status: 200, json: { status: 'healthy', service: 'a2e-server', version } }),
  };
}
