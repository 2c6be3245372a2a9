import type { DeliveryRow, DeliveryState, DeliverySummary, OutboxOperator } from '@dragoman/core';
import { type Failure, failure, type JsonObject } from '@dragoman/protocols';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { integerIn } from './integer-in.ts';
import { integerParameter, textParameter } from './route-parameters.ts';

/** The states of callbacks, and retries of those that were given up. */
export function adminOutboxRoutes(operator: OutboxOperator): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/outbox',
      access: 'admin',
      counts: false,
      summary: 'List callbacks, newest first: ?state=due, delivered or dead; ?limit, ?cursor.',
      parameters: [
        textParameter('state', 'Only entries in this state.', STATES),
        textParameter('cursor', 'The next_cursor of the previous page.'),
        integerParameter('limit', 'Maximum number of entries, at most 200. Default: 50.'),
      ],
      handle: (request) => list(request, operator),
    },
    {
      method: 'POST',
      path: '/admin/v1/outbox/:id/retry',
      access: 'admin',
      counts: false,
      summary:
        'Retry a dead callback now, with the same id and body. url_enabled is true if its URL had answered 410 and may be called again.',
      handle: ({ params }) => retry(params['id'] ?? '', operator),
    },
    {
      method: 'GET',
      path: '/admin/v1/outbox/:id',
      access: 'admin',
      counts: false,
      summary: 'Read a callback with its body and headers; the signature is made at each attempt.',
      handle: async ({ params }) => {
        const row = await operator.show(params['id'] ?? '');
        return {
          status: 200,
          headers: NO_STORE,
          json: { ...deliveryJson(row), headers: headersOf(row), body: row.body },
        };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/outbox/:id/give-up',
      access: 'admin',
      counts: false,
      summary: 'Give up a due callback: it is not retried automatically.',
      handle: async ({ params }) => ({ status: 200, json: deliveryJson(await operator.giveUp(params['id'] ?? '')) }),
    },
    {
      method: 'POST',
      path: '/admin/v1/outbox-hosts/:host/retry',
      access: 'admin',
      counts: false,
      summary:
        'Retry every dead callback to a host: HOST, or HOST:PORT for another port. complete is false if there were more than 10,000 dead callbacks.',
      handle: async ({ params }) => {
        const host = params['host'] ?? '';
        const { retried, isAll } = await operator.retryHost(host);
        return { status: 200, json: { host, retried, complete: isAll } };
      },
    },
  ];
}

async function list({ query }: InboundRequest, operator: OutboxOperator): Promise<Answer | Failure> {
  const limit = integerIn(query, 'limit', { from: 1, to: 200, otherwise: 50 });
  if (isFailure(limit)) return limit;
  const after = integerIn(query, 'cursor', {
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    otherwise: Number.MAX_SAFE_INTEGER,
  });
  if (isFailure(after)) return after;
  const given = query.get('state');
  const state = STATES.find((one) => one === given);
  if (given !== null && state === undefined) {
    const message = `state must be one of ${STATES.join(', ')}; got ${JSON.stringify(given.slice(0, 40))}`;
    return failure('invalid_message', { issues: [{ pointer: '/state', code: 'enum', message }] }, message);
  }
  const { rows, total, next } = await operator.list({ state, after: after.value, limit: limit.value });
  const cursor = next === undefined ? null : String(next);
  return { status: 200, json: { deliveries: rows.map(deliveryJson), total, next_cursor: cursor } };
}

/** Retries a callback. An expired one is not sent, but its URL is enabled again. */
async function retry(id: string, operator: OutboxOperator): Promise<Answer> {
  const { row, isEnabled } = await operator.retry(id);
  return { status: 200, json: { ...deliveryJson(row), url_enabled: isEnabled } };
}

function deliveryJson(row: DeliverySummary): JsonObject {
  return {
    id: row.id,
    agent_id: row.owner,
    request_id: row.requestId,
    message_id: row.messageId,
    url: row.url,
    state: row.state,
    priority: row.priority,
    attempts: row.attempts,
    created_at: timeOf(row.createdAt),
    next_at: row.state === 'due' ? timeOf(row.nextAt) : null,
    expires_at: timeOf(row.expiresAt),
    ended_at: timeOf(row.endedAt),
    failures: row.failures.map(({ at, ...rest }) => ({ at: timeOf(at), ...rest })),
  };
}

/** The headers of a callback as the outbox sends them, without the signature. */
function headersOf({ messageId }: DeliveryRow): JsonObject {
  return {
    'content-type': 'application/json',
    'user-agent': 'dragoman',
    'webhook-id': messageId,
    'webhook-timestamp': '(the time of the attempt)',
    'webhook-signature': '(made at each attempt)',
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

const NO_STORE = { 'Cache-Control': 'no-store' };
const STATES: readonly DeliveryState[] = ['due', 'delivered', 'dead'];
