import { type E2AEnvelope, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { type Call, type EarlierTurn, ExtendedCall } from '../call/call.ts';
import type { Layer } from '../call/handler.ts';
import { lookBack } from '../runs/look-back.ts';
import type { Runs } from '../runs/runs.ts';
import type { EarlierRange, RecordedTurn, SessionKey, SessionStore, ThreadStore } from '../store/store.ts';

export interface HistoryOptions {
  readonly sessions: SessionStore;
  readonly threads: ThreadStore;
  readonly runs: Pick<Runs, 'read' | 'find'>;
  readonly agentOf: (envelope: E2AEnvelope, by: Pick<Call, 'principal'>) => string;
}

/** Gives the agent the earlier turns of the conversation when it calls `call.history()`. */
export function history(options: HistoryOptions): Layer {
  return (next) => (envelope, call) => {
    const turns = earlierTurns(envelope, call, options);
    return next(
      envelope,
      new ExtendedCall(call, {
        history: ({ limit = 50, maxBytes = MOST_BYTES } = {}) =>
          turns({ limit, maxBytes: Math.min(maxBytes, MOST_BYTES) }),
      }),
    );
  };
}

/**
 * Reads the turns of a conversation, over all protocols, from the journal. A thread keeps its messages longer than the
 * journal keeps its requests, so earlier turns are read from the thread.
 */
function earlierTurns(envelope: E2AEnvelope, { principal }: Call, context: HistoryOptions) {
  return async ({ limit, maxBytes }: Omit<EarlierRange, 'before'>): Promise<readonly EarlierTurn[]> => {
    const { session_id: sessionId, request_id: requestId } = envelope;
    // The limit comes from an agent and may be 2.5 or NaN.
    const most = Math.floor(Math.min(limit, MOST));
    if (sessionId === null && most >= 1) return broughtAlong(envelope, most);
    // Anonymous conversations are recorded, but nobody may read them.
    if (sessionId === null || requestId === null || principal.kind === 'anonymous' || !(most >= 1)) return [];
    const key = { owner: principal.id, agentId: context.agentOf(envelope, { principal }), sessionId };
    const range = { before: requestId, limit: most, maxBytes };
    const { turns, left, from } = await inJournal(key, range, context);
    if (turns.length >= most || left <= 0) return turns.slice(-most);
    const until =
      from ?? (await context.runs.find({ owner: key.owner, requestId }))?.acceptedAt ?? Number.POSITIVE_INFINITY;
    const known = new Set(turns.map((one) => one.request_id));
    const older = await inThread(key, { ...range, maxBytes: left }, context);
    const before = older.filter((one) => Date.parse(one.timestamp) < until && !known.has(one.request_id));
    return [...before, ...turns].slice(-most);
  };
}

/** The turns in a request of an OpenAI client, which sends the whole conversation each time. */
function broughtAlong({ params, provenance, timestamp }: E2AEnvelope, most: number): EarlierTurn[] {
  const { messages } = params;
  if (provenance.source_protocol !== 'openai' || !Array.isArray(messages)) return [];
  const turns = messages.filter(isObject);
  const before = turns.slice(
    0,
    Math.max(
      0,
      turns.findLastIndex(({ role }) => role === 'user'),
    ),
  );
  return before
    .flatMap(({ role, content = null }): EarlierTurn[] => {
      if (content === null || (role !== 'user' && role !== 'assistant')) return [];
      return [{ role: role === 'user' ? 'caller' : 'agent', request_id: '', timestamp: timestamp ?? '', content }];
    })
    .slice(-most);
}

async function inThread(key: SessionKey, range: EarlierRange, { threads }: HistoryOptions): Promise<EarlierTurn[]> {
  return (await threads.latest(key, range)).map(({ messageId, isAnswer, text, at }) => {
    const { message, replyTo } = JSON.parse(text) as { message: { content: Json }; replyTo?: string };
    return {
      role: isAnswer ? ('agent' as const) : ('caller' as const),
      request_id: isAnswer ? (replyTo ?? messageId) : messageId,
      timestamp: new Date(at).toISOString(),
      content: message.content,
    };
  });
}

/** Returns the turns with the bytes that are left of the limit, and the time at which the oldest turn was accepted. */
async function inJournal(key: SessionKey, range: EarlierRange, context: HistoryOptions) {
  const { rows } = await context.sessions.turns(key, { offset: 0, ...range });
  const turns: EarlierTurn[][] = [];
  let left = range.maxBytes;
  let from: number | undefined;
  for (const row of rows) {
    const turn = await turnsIn(row, key.owner, context);
    // Counted again: the store counts without streamed texts, and returns a single turn even if that exceeds the limit.
    for (const { content } of turn) left -= Buffer.byteLength(JSON.stringify(content));
    if (left < 0) break;
    turns.push(turn);
    from = row.acceptedAt;
  }
  return { turns: turns.reverse().flat(), left, from };
}

async function turnsIn(turn: RecordedTurn, owner: string, { runs }: HistoryOptions): Promise<EarlierTurn[]> {
  const { requestId, envelope, acceptedAt } = turn;
  const { params = {} } = JSON.parse(envelope) as { params?: JsonObject };
  const request: EarlierTurn = {
    role: 'caller',
    request_id: requestId,
    timestamp: new Date(acceptedAt).toISOString(),
    content: params['content'] ?? params['query'] ?? params,
  };
  const final = await lookBack(turn, { owner, runs });
  if (final === undefined) return [request];
  const { body, timestamp } = final;
  const result = body['result'] ?? body;
  const content = isObject(result) ? (result['content'] ?? result) : result;
  return [request, { role: 'agent', request_id: requestId, timestamp: timestamp ?? request.timestamp, content }];
}

const MOST = 1000;
/** Maximum bytes of a history. */
const MOST_BYTES = 8 * 1024 * 1024;
