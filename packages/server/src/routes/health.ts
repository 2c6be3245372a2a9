import { HEALTHY_SERVICE, type Health } from '@dragoman/protocols/a2e-workflow';
import type { Route } from '../http/route.ts';

/** Health check. Public, because a load balancer has no key. */
export function healthRoute(version: string): Route {
  const health: Health = { status: 'healthy', service: HEALTHY_SERVICE, version };
  return {
    method: 'GET',
    path: '/health',
    access: 'public',
    counts: false,
    summary: 'Health check.',
    handle: () => ({ status: 200, json: health }),
  };
}
