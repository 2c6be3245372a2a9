import type { E2AResponse, Json, JsonObject } from '@dragoman/protocols';
import { refuse } from '../refusals/refused.ts';
import { frameFrom } from '../runs/frame-text.ts';
import { lookBack } from '../runs/look-back.ts';
import type { RecordedTurn, SessionKey, SessionStore } from '../store/store.ts';
import { BoundedTalk } from './bounded-talk.ts';
import { booleanParam, integerParam, sessionParam } from './params.ts';
import type { ServerMethod } from './server-methods.ts';
import { lastTodos, TODOS } from './todos.ts';

/**
 * A session's turns, newest first, fifty a page: one event each if streamed, otherwise all in the result. A streamed
 * first page ends with the agent's latest to-do list, if there is one. Long values are shortened; the whole is in the
 * request's own answer. With `answers: false`, for a caller that reads the answers itself, they are null.
 */
export const historyGet: ServerMethod = async function* (envelope, call, { agentOf, runs, sessions }) {
  const sessionId = sessionParam(envelope) ?? refuse('invalid_message', {}, 'history.get needs params.session_id.');
  const page = integerParam(envelope, 'page_idx', { from: 1, otherwise: 1 });
  const withAnswers = booleanParam(envelope, 'answers', { otherwise: true });
  const key = { owner: call.principal.id, agentId: agentOf(envelope, call), sessionId };
  const talk = new BoundedTalk({ whole: WHOLE, least: LEAST });
  const messages: JsonObject[] = [];
  const streamed: string[] = [];
  let all = 0;
  for await (const { rows, total } of turnsFrom((page - 1) * PAGE, key, sessions)) {
    all = total;
    for (const turn of rows) {
      const final = withAnswers ? await lookBack(turn, { owner: key.owner, runs }) : endOf(turn);
      if (final !== undefined && final.sequence > 0) streamed.push(turn.requestId);
      const message = messageOf(turn, final, { talk, withAnswers });
      if (envelope.is_stream) yield event('history.message', message);
      else messages.push(message);
    }
  }
  const place = { session_id: sessionId, page_idx: page, total_pages: Math.max(1, Math.ceil(all / PAGE)), total: all };
  if (!envelope.is_stream) return { ...place, messages };
  const todos = page === 1 ? await lastTodos(streamed, { owner: key.owner, runs }) : undefined;
  if (todos !== undefined) yield event(TODOS, todos);
  return { event_type: 'history.message', status: 'done', ...place };
};

/** Reads the turns of a page in parts, because fifty may need too much memory. */
async function* turnsFrom(offset: number, key: SessionKey, sessions: SessionStore) {
  let place: { offset: number; before?: string } = { offset };
  for (let read = 0; ; ) {
    const found = await sessions.turns(key, { ...place, limit: PAGE - read, maxBytes: READ_BYTES });
    yield found;
    const last = found.rows.at(-1);
    read += found.rows.length;
    if (last === undefined || read === PAGE || offset + read >= found.total) return;
    // Continues after the last request, not by offset: a new turn meanwhile would shift all offsets.
    place = { offset: 0, before: last.requestId };
  }
}

function endOf({ final }: RecordedTurn): E2AResponse | undefined {
  return final === null ? undefined : frameFrom(final);
}

function messageOf(turn: RecordedTurn, final: E2AResponse | undefined, { talk, withAnswers }: Shown): JsonObject {
  const { method = null, params = {} } = JSON.parse(turn.envelope) as { method?: Json; params?: JsonObject };
  return {
    request_id: turn.requestId,
    timestamp: new Date(turn.acceptedAt).toISOString(),
    method,
    params: talk.bounded(params),
    status: final === undefined ? 'in_progress' : final.status,
    answer: final === undefined || !withAnswers ? null : talk.bounded(final.body['result'] ?? final.body),
  };
}

interface Shown {
  readonly talk: BoundedTalk;
  readonly withAnswers: boolean;
}

function event(eventType: string, fields: JsonObject): JsonObject {
  return { delta_kind: 'custom', event_type: eventType, delta: { event_type: eventType, ...fields } };
}

const PAGE = 50;
const READ_BYTES = 2 * 1024 * 1024;
/** Characters of a page that are returned unchanged. Beyond them, `LEAST` of each request and answer. */
const WHOLE = 4 * 1024 * 1024;
const LEAST = 64 * 1024;
