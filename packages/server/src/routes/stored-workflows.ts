import type { StoredWorkflows } from '@dragoman/core';
import type { JsonObject } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { workflowFailure } from './workflow-failure.ts';

/** The stored workflows that the caller may run. */
export function storedWorkflowsRoute(stored: StoredWorkflows): Route {
  return {
    method: 'GET',
    path: '/api/v1/workflows',
    access: 'agent',
    counts: true,
    summary: 'List the stored workflows that the caller may run, with the JSON Schema of their inputs.',
    wordFailure: workflowFailure,
    handle: (request) => {
      const workflows = stored.list(callerOf(request)).map(({ name, description, inputs, version }) => ({
        name,
        description,
        inputs: inputs as JsonObject,
        version,
      }));
      return { status: 200, json: { workflows } };
    },
  };
}
