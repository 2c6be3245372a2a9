import type { E2AEnvelope, Json, JsonObject } from '@dragoman/protocols';
import { refuse } from '../refusals/refused.ts';
import type { SessionStore } from '../store/store.ts';
import { integerParam, sessionParam, textParam } from './params.ts';
import type { ServerMethod } from './server-methods.ts';

export const sessionList: ServerMethod = async function* (envelope, call, { sessions }) {
  const page = integerParam(envelope, 'page_idx', { from: 1, otherwise: 1 });
  const { rows, total } = await listed(envelope, call.principal.id, page, sessions);
  return {
    sessions: rows.map((row) => ({
      session_id: row.sessionId,
      agent_id: row.agentId,
      title: row.title,
      cwd: row.cwd,
      created_at: new Date(row.createdAt).toISOString(),
      updated_at: new Date(row.updatedAt).toISOString(),
    })),
    total,
    page_idx: page,
    total_pages: Math.max(1, Math.ceil(total / PAGE)),
  };
};

/** The sessions with one id, or a page of those of one agent, of one folder, or of all. */
function listed(envelope: E2AEnvelope, owner: string, page: number, sessions: SessionStore) {
  const sessionId = textParam(envelope, 'session_id');
  if (sessionId !== undefined) return sessions.named(owner, sessionId).then((rows) => ({ rows, total: rows.length }));
  const [agentId, cwd] = [textParam(envelope, 'agent_id'), textParam(envelope, 'cwd')];
  return sessions.list(owner, { offset: (page - 1) * PAGE, limit: PAGE, agentId, cwd });
}

/** `session.list` in ACP's form. There every session has a folder, so one without a folder is in the root. */
export const sessionListAcp: ServerMethod = async function* (envelope, call, context) {
  const answered = sessionList(envelope, call, context);
  const { value } = (await answered.next()) as { value: JsonObject & { sessions: Record<string, Json>[] } };
  const sessions = value.sessions.map(({ session_id, title = null, cwd, updated_at = null }) => ({
    sessionId: session_id ?? '',
    cwd: cwd ?? '/',
    title,
    updatedAt: updated_at,
  }));
  return { sessions };
};

export const sessionCreate: ServerMethod = async function* (envelope, call, context) {
  const sessionId = sessionParam(envelope) ?? `sess_${context.ids.hex().slice(0, 12)}`;
  await context.sessions.create({
    owner: call.principal.id,
    agentId: context.agentOf(envelope, call),
    sessionId,
    title: textParam(envelope, 'title') ?? null,
    cwd: textParam(envelope, 'cwd') ?? null,
    createdAt: context.clock.now().getTime(),
    updatedAt: context.clock.now().getTime(),
  });
  return { session_id: sessionId };
};

/** `session.create` in ACP's form. */
export const sessionNew: ServerMethod = async function* (envelope, call, context) {
  const id = sessionParam(envelope) ?? `acp_${context.ids.hex().slice(0, 12)}`;
  yield* sessionCreate({ ...envelope, session_id: id }, call, context);
  return { sessionId: id, configOptions: [] };
};

export const sessionDelete: ServerMethod = async function* (envelope, call, context) {
  const sessionId = sessionParam(envelope) ?? refuse('invalid_message', {}, 'session.delete needs params.session_id.');
  const agentId = context.agentOf(envelope, call);
  const deleted = await context.sessions.delete({ owner: call.principal.id, agentId, sessionId });
  if (!deleted) refuse('not_found', {}, `There is no session ${JSON.stringify(sessionId)}.`);
  await context.tidy();
  return { session_id: sessionId, deleted: true };
};

const PAGE = 50;
