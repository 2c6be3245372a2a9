// Parameters that several routes share, as described by OpenAPI.

import type { RouteParameter } from '../http/route.ts';

/** An integer in the query. */
export function integerParameter(name: string, description: string): RouteParameter {
  return { in: 'query', name, description, schema: { type: 'integer' } };
}

/** A text in the query, or one of `choices`. */
export function textParameter(name: string, description: string, choices?: readonly string[]): RouteParameter {
  return { in: 'query', name, description, schema: choices === undefined ? { type: 'string' } : { enum: choices } };
}

export const LAST_EVENT_ID: RouteParameter = {
  in: 'header',
  name: 'Last-Event-ID',
  description: 'The id of the last event received. SSE clients send it when they reconnect.',
  schema: { type: 'string' },
};

/** The parameters that `afterOf` reads. */
export const AFTER: readonly RouteParameter[] = [
  integerParameter('after', 'The sequence of the last frame seen. Default: -1, which reads all.'),
  LAST_EVENT_ID,
];

/** The header that `idempotencyKeyOf` reads. */
export const IDEMPOTENCY_KEY: RouteParameter = {
  in: 'header',
  name: 'Idempotency-Key',
  description: 'Your id for the request; a repeat gets the answer of the first request.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** The owner of a request, if several agents have used its id. */
export const WHOSE: RouteParameter = textParameter(
  'agent_id',
  'The owner of the request, when several agents use the id.',
);
