import { type E2AEnvelope, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { type Call, ExtendedCall, type SaidBefore } from '../call.ts';
import type { Layer } from '../handler.ts';
import { deferred } from '../runs/deferred.ts';
import { lookBack } from '../runs/look-back.ts';
import type { Runs } from '../runs/runs.ts';
import type { SaidRange, SessionKey, SessionStore, ThreadStore, Turn } from '../store/store.ts';
import { isAnonymous } from './anonymous.ts';

export interface ConversationContext {
  readonly sessions: SessionStore;
  readonly threads: ThreadStore;
  readonly runs: Pick<Runs, 'read'>;
  readonly agentOf: (envelope: E2AEnvelope, by: Pick<Call, 'principal'>) => string;
}

/**
 * Gives the agent what was said before. A module agent asks for it (`call.history()`); with a message of a mailbox thread
 * it comes along, in `channel_context.history`, so that agents behind any driver have it. The sender's callback URL stays
 * here: it is no agent's business.
 */
export function conversation(context: ConversationContext): Layer {
  return (next) => (envelope, call) => {
    const said = saidBefore(envelope, call, context);
    const history = ({ limit = 50 }: { readonly limit?: number } = {}) => said({ limit, maxBytes: MOST_BYTES });
    const own = new ExtendedCall(call, { history });
    if (envelope.channel !== 'a2a-mailbox') return next(envelope, own);
    const told = withoutCallback(envelope);
    if (envelope.session_id === null || isAnonymous(call.principal.id)) return next(told, own);
    return deferred(async () => {
      const along = within(await said({ limit: COMES_ALONG, maxBytes: COMES_ALONG_BYTES }), COMES_ALONG_CHARACTERS);
      return next({ ...told, channel_context: { ...told.channel_context, history: along as unknown as Json } }, own);
    });
  };
}

function saidBefore(envelope: E2AEnvelope, { principal }: Call, context: ConversationContext) {
  return async ({ limit, maxBytes }: Omit<SaidRange, 'before'>): Promise<readonly SaidBefore[]> => {
    const { session_id: sessionId, request_id: requestId } = envelope;
    // An agent reckons it, and may come to 2.5 or to no number.
    const most = Math.floor(Math.min(limit, MOST));
    if (sessionId === null || requestId === null || !(most >= 1)) return [];
    const key = { owner: principal.id, agentId: context.agentOf(envelope, { principal }), sessionId };
    const said = envelope.channel === 'a2a-mailbox' ? inThread : inSession;
    const all = await said(key, { before: requestId, limit: most, maxBytes }, context);
    return all.slice(-most);
  };
}

async function inThread(key: SessionKey, range: SaidRange, { threads }: ConversationContext): Promise<SaidBefore[]> {
  // Anonymous threads are kept where nobody can read them.
  if (isAnonymous(key.owner)) return [];
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

async function inSession(key: SessionKey, range: SaidRange, context: ConversationContext): Promise<SaidBefore[]> {
  const { rows } = await context.sessions.turns(key, { offset: 0, ...range });
  const turns: SaidBefore[][] = [];
  let left = range.maxBytes;
  for (const row of rows) {
    const turn = await saidIn(row, key.owner, context);
    // Once more, for what was streamed is not in the row, and one that is too large by itself is.
    for (const { content } of turn) left -= Buffer.byteLength(JSON.stringify(content));
    if (left < 0) break;
    turns.push(turn);
  }
  return turns.reverse().flat();
}

async function saidIn(turn: Turn, owner: string, { runs }: ConversationContext): Promise<SaidBefore[]> {
  const { requestId, envelope, acceptedAt } = turn;
  const { params = {} } = JSON.parse(envelope) as { params?: JsonObject };
  const asked: SaidBefore = {
    role: 'caller',
    request_id: requestId,
    timestamp: new Date(acceptedAt).toISOString(),
    content: params['content'] ?? params['query'] ?? params,
  };
  const final = await lookBack(turn, { owner, runs });
  if (final === undefined) return [asked];
  const { body, timestamp } = final;
  const result = body['result'] ?? body;
  const content = isObject(result) ? (result['content'] ?? result) : result;
  return [asked, { role: 'agent', request_id: requestId, timestamp: timestamp ?? asked.timestamp, content }];
}

function withoutCallback(envelope: E2AEnvelope): E2AEnvelope {
  const { from } = envelope.channel_context;
  if (!isObject(from) || from['callbackUrl'] === undefined) return envelope;
  const { callbackUrl: _, ...rest } = from;
  return { ...envelope, channel_context: { ...envelope.channel_context, from: rest } };
}

/** The newest of them that have no more characters together than this. */
function within(said: readonly SaidBefore[], characters: number): readonly SaidBefore[] {
  let left = characters;
  const from = said.findLastIndex((one) => {
    left -= JSON.stringify(one.content).length;
    return left < 0;
  });
  return said.slice(from + 1);
}

const MOST = 1000;
/** Of a thread, or of a session. */
const MOST_BYTES = 8 * 1024 * 1024;
const COMES_ALONG = 20;
const COMES_ALONG_CHARACTERS = 64 * 1024;
/** What so many characters, and all that is around them, may be in bytes. */
const COMES_ALONG_BYTES = 4 * COMES_ALONG_CHARACTERS;
