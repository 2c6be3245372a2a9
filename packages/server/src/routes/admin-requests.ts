import { type AuditEntry, type ExplainContext, explain } from '@dragoman/core';
import { type Explanation, type Failure, failure, type JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../route.ts';

export interface RequestsContext extends ExplainContext {
  /** The line about a request of the wire; `undefined` when there is none. */
  readonly audited: (requestId: string, agentId: string | undefined) => Promise<AuditEntry | undefined>;
}

/** What happened to a request, for whoever runs the server. */
export function adminRequestRoutes(context: RequestsContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/requests/:request_id',
      access: 'admin',
      counts: false,
      summary:
        'What came in, what was made of it, what allowed it, how it was answered, and every field dropped or invented on the way. ?agent_id= where several agents use the id.',
      handle: (request) => told(request, context),
    },
  ];
}

async function told({ params, query }: InboundRequest, context: RequestsContext): Promise<Answer | Failure> {
  const id = params['request_id'] ?? '';
  const owner = query.get('agent_id') ?? undefined;
  const explained = (await explain(id, { ...context, owner })) ?? wireLine(await context.audited(id, owner));
  if (explained === undefined) {
    const suggestions = ['what was refused at the door leaves no record', 'answers are kept for keep_answers_hours'];
    return failure('not_found', { suggestions }, 'There is no such request.');
  }
  return { status: 200, headers: { 'Cache-Control': 'no-store' }, json: explained as unknown as JsonObject };
}

/** Calls on the wire are audited, not journaled: who did what is known, and not what was said. */
function wireLine(entry: AuditEntry | undefined): Explanation | undefined {
  if (entry === undefined) return undefined;
  const { ts, req_id, agent_id, type, name, success, input_bytes, ...rest } = entry;
  return {
    request_id: req_id,
    kind: 'wire',
    agent_id,
    accepted_at: new Date(ts * 1000).toISOString(),
    state: success ? 'succeeded' : 'failed',
    received: { dialect: 'a2e-wire', bytes: input_bytes, text: null, note: 'what is said on the wire is not kept' },
    envelope: null,
    allowed:
      name === ''
        ? []
        : [{ who: agent_id, known_by: `session ${rest.session_id}`, what: `to call ${name}`, rule: RULE }],
    way_in: { dropped: [], changed: [], invented: [], warnings: [] },
    answers: [],
    answers_left_out: 0,
    outcome: { type, name, success, ...rest },
    callbacks: [],
    also_by: [],
  };
}

const RULE = 'permissions.tools, or permissions.agents for a skill, of that moment';
