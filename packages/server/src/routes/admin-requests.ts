import { type AuditEntry, type Engine, type ExplainContext, explain, explainWire } from '@dragoman/core';
import { type Explanation, type Failure, failure, type JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { WHOSE } from './route-parameters.ts';

export interface RequestsContext extends ExplainContext {
  readonly engine: Engine;
  /**
   * The audit lines about a request of the wire: the newest one of each agent that used its id, the newest of all
   * first.
   */
  readonly audited: (requestId: string) => Promise<readonly AuditEntry[]>;
}

/** The history of a request, for operators. */
export function adminRequestRoutes(context: RequestsContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/requests/:request_id',
      access: 'admin',
      counts: false,
      summary:
        'Explain a request: the original message, the envelope, the rules that allowed it, the answer, and every field dropped or added. ?agent_id= selects among several.',
      parameters: [WHOSE],
      handle: (request) => explained(request, context),
    },
    {
      method: 'POST',
      path: '/admin/v1/requests/:request_id/cancel',
      access: 'admin',
      counts: false,
      summary:
        'Cancel a running request or execution of any caller; its last frame is E2A.CANCELLED. cancelled is false if it had ended. ?agent_id= selects among several.',
      parameters: [WHOSE],
      handle: (request) => cancel(request, context),
    },
  ];
}

async function explained({ params, query }: InboundRequest, context: RequestsContext): Promise<Answer | Failure> {
  const id = params['request_id'] ?? '';
  const owner = query.get('agent_id') ?? undefined;
  const wanted = { ...context, owner };
  const explained = (await explain(id, wanted)) ?? explainedLine(await context.audited(id), wanted);
  if (explained === undefined) {
    const suggestions = [
      'requests that the endpoint rejected are not recorded',
      'the server deletes answers after keep_answers_hours (default: 24)',
    ];
    return failure('not_found', { suggestions }, 'Request not found.');
  }
  return { status: 200, headers: { 'Cache-Control': 'no-store' }, json: explained as unknown as JsonObject };
}

async function cancel(
  { params, query }: InboundRequest,
  { store, engine }: RequestsContext,
): Promise<Answer | Failure> {
  const requestId = params['request_id'] ?? '';
  const wanted = query.get('agent_id');
  const [requests, executions] = await Promise.all([
    store.requests.named(requestId),
    store.executions.named(requestId),
  ]);
  const [newest] = [...requests, ...executions]
    .filter(({ owner }) => wanted === null || owner === wanted)
    .sort((one, other) => other.acceptedAt - one.acceptedAt);
  const found = newest && (await engine.runs.find({ owner: newest.owner, requestId }));
  if (newest === undefined || found === undefined) return failure('not_found', {}, 'Request not found.');
  const cancelled = await found.cancel();
  return { status: 200, json: { request_id: requestId, agent_id: newest.owner, cancelled } };
}

/** Explains the newest of the lines, or the line of the requested owner. */
function explainedLine(
  entries: readonly AuditEntry[],
  { owner, ...context }: ExplainContext & { readonly owner: string | undefined },
): Explanation | undefined {
  const entry = entries.find(({ agent_id }) => owner === undefined || agent_id === owner);
  const others = entries.filter((other) => other !== entry).map(({ agent_id }) => agent_id);
  return entry && { ...explainWire(entry, context), node: null, also_by: others };
}
