import type { JsonObject } from '@dragoman/protocols';
import { refuse } from '../refused.ts';
import { lookBack } from '../runs/look-back.ts';
import type { Turn } from '../store/store.ts';
import type { GatewayContext, GatewayMethod } from './gateway.ts';
import { integerParam, sessionParam } from './params.ts';
import { lastTodos, TODOS } from './todos.ts';

/**
 * A session's turns, newest first, fifty a page: one event each when streamed, else all in the result. Behind the newest comes
 * what the agent has to do, where it has told that.
 */
export const historyGet: GatewayMethod = async function* (envelope, call, context) {
  const sessionId = sessionParam(envelope) ?? refuse('invalid_message', {}, 'history.get needs params.session_id.');
  const page = integerParam(envelope, 'page_idx', { from: 1, otherwise: 1 });
  const key = { owner: call.principal.id, agentId: context.agentOf(envelope), sessionId };
  const { rows, total } = await context.sessions.turns(key, { offset: (page - 1) * PAGE, limit: PAGE });
  const messages: JsonObject[] = [];
  for (const row of rows) messages.push(await messageOf(row, key.owner, context));
  const place = { session_id: sessionId, page_idx: page, total_pages: Math.max(1, Math.ceil(total / PAGE)), total };
  if (!envelope.is_stream) return { ...place, messages };
  for (const message of messages) yield event('history.message', message);
  const todos = page === 1 ? await lastTodos(rows, { owner: key.owner, runs: context.runs }) : undefined;
  if (todos !== undefined) yield event(TODOS, todos);
  return { event_type: 'history.message', status: 'done', ...place };
};

function event(eventType: string, fields: JsonObject): JsonObject {
  return { delta_kind: 'custom', event_type: eventType, delta: { event_type: eventType, ...fields } };
}

async function messageOf(turn: Turn, owner: string, { runs }: GatewayContext): Promise<JsonObject> {
  const asked = JSON.parse(turn.envelope) as JsonObject;
  const final = await lookBack(turn, { owner, runs });
  return {
    request_id: turn.requestId,
    timestamp: new Date(turn.acceptedAt).toISOString(),
    method: asked['method'] ?? null,
    params: asked['params'] ?? {},
    status: final === undefined ? 'in_progress' : final.status,
    answer: final === undefined ? null : (final.body['result'] ?? final.body),
  };
}

const PAGE = 50;
