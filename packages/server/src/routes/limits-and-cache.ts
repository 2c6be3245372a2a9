import type { Callers, Limiter, Principal, WorkflowService } from '@dragoman/core';
import { failure, type JsonObject } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { workflowFailure } from './workflow-failure.ts';

export interface LimitsContext {
  readonly limiter: Limiter;
  readonly callers: Callers;
  readonly workflows: WorkflowService;
}

/** The state of a caller's limits, and deletion of cached API answers. */
export function limitsAndCacheRoutes({ limiter, callers, workflows }: LimitsContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/rate-limit/status',
      access: 'agent',
      // A caller that has used everything up must still be able to read when it may continue.
      counts: false,
      summary: 'Show your limits: used and left.',
      wordFailure: workflowFailure,
      handle: (request) => ({ status: 200, json: statusJson(callerOf(request), limiter) }),
    },
    {
      method: 'GET',
      path: '/admin/v1/agents/:agent_id/limits',
      access: 'admin',
      counts: false,
      summary: 'Show the limits of an agent: used and left.',
      handle: ({ params }) => {
        const principal = callers.named(params['agent_id'] ?? '');
        if (principal === undefined) return failure('not_found', {}, 'Agent not found.');
        return { status: 200, headers: { 'Cache-Control': 'no-store' }, json: statusJson(principal, limiter) };
      },
    },
    {
      method: 'DELETE',
      path: '/api/v1/cache',
      access: 'agent',
      counts: true,
      summary: 'Clear your cached API answers.',
      wordFailure: workflowFailure,
      handle: (request) => ({ status: 200, json: { cleared: workflows.forget(callerOf(request).id) } }),
    },
    {
      method: 'DELETE',
      path: '/admin/v1/cache',
      access: 'admin',
      counts: false,
      summary: 'Clear all cached API answers.',
      handle: () => ({ status: 200, json: { cleared: workflows.forget() } }),
    },
  ];
}

function statusJson(principal: Principal, limiter: Limiter): JsonObject {
  const states = limiter.allStates(principal);
  const by = (name: (window: string) => string, value: (state: (typeof states)[number]) => number) =>
    Object.fromEntries(states.map((state) => [name(state.window.name), value(state)]));
  return {
    agent_id: principal.id,
    limits: by(same, ({ window }) => window.limit),
    usage: by(
      (name) => name.replace('_per_', '_last_'),
      ({ window, remaining }) => window.limit - remaining,
    ),
    remaining: by(same, ({ remaining }) => remaining),
  };
}

function same(name: string): string {
  return name;
}
