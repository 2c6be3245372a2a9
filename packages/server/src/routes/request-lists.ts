import type { ListedRequest, RequestList, RequestPlace, RequestProgress, RequestQuery, Store } from '@dragoman/core';
import { type Failure, failure, type JsonObject, nearest, SOURCE_PROTOCOLS } from '@dragoman/protocols';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { integerIn } from './integer-in.ts';
import { integerParameter, textParameter } from './route-parameters.ts';

/** Requests of any protocol, the latest change first: those of the caller, and all for administrators. */
export function requestListRoutes(store: Store): Route[] {
  const parameters = [
    textParameter('agent', 'Only requests that this agent answers.'),
    textParameter('session', 'Only requests of this session.'),
    textParameter('state', 'Only requests in this state.', Object.keys(STATES)),
    textParameter(
      'protocol',
      `Only requests of this protocol: ${SOURCE_PROTOCOLS.join(', ')}, or another that a sender named.`,
    ),
    textParameter('text', 'Only requests whose message contains this text.'),
    textParameter('since', 'Only requests that changed at this time or later (RFC 3339).'),
    textParameter('cursor', 'The next_cursor of the previous page.'),
    integerParameter('limit', 'Maximum number of entries, at most 200. Default: 50.'),
  ];
  return [
    {
      method: 'GET',
      path: '/e2a/requests',
      access: 'agent',
      counts: false,
      summary: 'List your requests of any protocol, latest change first.',
      parameters,
      answers: { 'application/json': REQUEST_PAGE },
      handle: (request) => list(request, store, callerOf(request).id),
    },
    {
      method: 'GET',
      path: '/admin/v1/requests',
      access: 'admin',
      counts: false,
      summary: 'List all requests, latest change first.',
      parameters: [textParameter('owner', 'Only requests that this agent sent.'), ...parameters],
      answers: { 'application/json': REQUEST_PAGE },
      handle: (request) => list(request, store, request.query.get('owner') ?? undefined),
    },
  ];
}

async function list({ query }: InboundRequest, store: Store, owner: string | undefined): Promise<Answer | Failure> {
  const limit = integerIn(query, 'limit', { from: 1, to: 200, otherwise: 50 });
  if (isFailure(limit)) return limit;
  const conditions = conditionsIn(query);
  if (isFailure(conditions)) return conditions;
  // One row above the page size shows whether there is another page.
  const { rows, total, lookedUpTo } = await look(store, { ...conditions, owner, limit: limit.value + 1 });
  const page = rows.slice(0, limit.value);
  const last = rows.length > page.length ? page.at(-1) : lookedUpTo;
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    json: {
      requests: page.map(requestJson),
      total: total ?? null,
      next_cursor: last === undefined ? null : cursorOf(last),
    },
  };
}

/**
 * Lists requests in several steps, because the store stops early when few rows match. A page may still be short, or
 * empty, and have a next one.
 */
async function look(store: Store, query: RequestQuery): Promise<RequestList> {
  const { rows: first, total, lookedUpTo } = await store.requests.list(query);
  const rows = [...first];
  let after = lookedUpTo;
  for (let turn = 1; after !== undefined && rows.length < query.limit && turn < MOST_LOOKS; turn++) {
    const found = await store.requests.list({ ...query, after, limit: query.limit - rows.length });
    rows.push(...found.rows);
    after = found.lookedUpTo;
  }
  return { rows, total, lookedUpTo: after };
}

function conditionsIn(query: URLSearchParams): Omit<RequestQuery, 'owner' | 'limit'> | Failure {
  const state = query.get('state');
  const progress = state === null ? undefined : STATES[state];
  if (state !== null && progress === undefined) {
    const close = nearest(state, Object.keys(STATES));
    const expected = `one of ${Object.keys(STATES).join(', ')}`;
    return invalid('state', expected, state, close === undefined ? undefined : `state=${close}`);
  }
  const since = query.get('since');
  const changedSince = since === null ? undefined : Date.parse(since);
  if (since !== null && Number.isNaN(changedSince))
    return invalid('since', 'a time such as 2026-03-28T12:00:00Z', since);
  const cursor = query.get('cursor');
  const after = cursor === null ? undefined : placeOf(cursor);
  if (cursor !== null && after === undefined) return invalid('cursor', 'the next_cursor of a page', cursor);
  return {
    agentId: query.get('agent') ?? undefined,
    sessionId: query.get('session') ?? undefined,
    progress,
    protocol: query.get('protocol') ?? undefined,
    text: query.get('text') ?? undefined,
    changedSince,
    after,
  };
}

function requestJson({
  requestId,
  owner,
  agentId,
  sessionId,
  protocol,
  acceptedAt,
  changedAt,
  progress,
}: ListedRequest): JsonObject {
  return {
    request_id: requestId,
    owner,
    agent: agentId,
    session_id: sessionId,
    protocol,
    state: stateOf(progress),
    accepted_at: new Date(acceptedAt).toISOString(),
    changed_at: new Date(changedAt).toISOString(),
  };
}

function stateOf(progress: RequestProgress | null): string {
  const found = Object.entries(STATES).find(([, all]) => progress !== null && all.includes(progress));
  return found?.[0] ?? 'completed';
}

function cursorOf({ changedAt, owner, requestId }: RequestPlace): string {
  return Buffer.from(JSON.stringify([changedAt, owner, requestId])).toString('base64url');
}

function placeOf(cursor: string): RequestPlace | undefined {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [changedAt, owner, requestId] = Array.isArray(place) ? place : [];
    if (!Number.isSafeInteger(changedAt) || typeof owner !== 'string' || typeof requestId !== 'string')
      return undefined;
    return { changedAt, owner, requestId };
  } catch {
    return undefined;
  }
}

function invalid(name: string, expected: string, got: string, suggestion?: string): Failure {
  const message = `${name} must be ${expected}; got ${JSON.stringify(got.slice(0, 40))}`;
  const issue = { pointer: `/${name}`, code: 'type', message, ...(suggestion !== undefined && { suggestion }) };
  return failure('invalid_message', { issues: [issue] }, message);
}

/** The store does other work between two steps. */
const MOST_LOOKS = 10;

/** The recorded states for each state that callers see. */
const STATES: Readonly<Record<string, readonly RequestProgress[]>> = {
  waiting: ['accepted'],
  running: ['started', 'answering'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  refused: ['refused'],
};

const text = { type: 'string' } as const;
const REQUEST_PAGE = {
  type: 'object',
  required: ['requests', 'total', 'next_cursor'],
  properties: {
    requests: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          request_id: text,
          owner: { type: 'string', description: 'Who sent it.' },
          agent: { type: 'string', description: 'Who answers it.' },
          session_id: { type: ['string', 'null'] },
          protocol: { type: 'string', description: 'The protocol of the request.' },
          state: { enum: Object.keys(STATES) },
          accepted_at: text,
          changed_at: text,
        },
      },
    },
    total: {
      type: ['integer', 'null'],
      description:
        'How many there are on all pages. Null in a list of all callers and with protocol or text, which are not counted.',
    },
    next_cursor: { type: ['string', 'null'] },
  },
} as const;
