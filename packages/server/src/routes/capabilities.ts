import { type CapabilitiesOptions, capabilitiesOf } from '@dragoman/core';
import type { JsonObject } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { workflowFailure } from './workflow-failure.ts';

/** The permissions of the caller (A2E, GET /api/v1/capabilities). */
export function capabilitiesRoute(options: CapabilitiesOptions): Route {
  return {
    method: 'GET',
    path: '/api/v1/capabilities',
    access: 'agent',
    counts: true,
    summary: 'List what the caller may use: APIs, credentials by name, operations, knowledge bases.',
    wordFailure: workflowFailure,
    handle: (request) => ({ status: 200, json: capabilitiesOf(callerOf(request), options) as JsonObject }),
  };
}
