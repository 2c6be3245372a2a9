import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type { RecordedTurn, SessionKey, SessionRow } from '../store.ts';
import { type FramesRow, unpackFrames } from './frames.ts';
import { checkedRequest, SELECT_ANSWER, SELECT_REQUEST, type StoredRequest } from './requests.ts';

export function sessionReads(database: Database) {
  // A null `agentId` or `cwd` does not filter.
  const count = database.prepare(
    'SELECT count(*) AS total FROM sessions WHERE owner = ? AND agent_id = COALESCE(?, agent_id) AND (? IS NULL OR cwd = ?)',
  );
  const page = database.prepare(`
    ${SELECT_SESSION} WHERE owner = ? AND agent_id = COALESCE(?, agent_id) AND (? IS NULL OR cwd = ?)
    ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?`);
  const named = database.prepare(`
    ${SELECT_SESSION} WHERE owner = ? AND session_id = ? ORDER BY updated_at DESC, id DESC LIMIT 100`);
  const allWith = database.prepare('SELECT owner, session_id AS "sessionId" FROM sessions WHERE agent_id = ?');
  const owners = database.prepare('SELECT owner FROM sessions WHERE agent_id = ? AND session_id = ? LIMIT 2');
  const remote = database.prepare(`SELECT remote FROM sessions WHERE ${IN_SESSION}`);
  const countTurns = database.prepare(`SELECT count(*) AS total FROM requests WHERE ${IN_SESSION}`);
  const pageOfTurns = database.prepare(`
    ${SELECT_REQUEST} WHERE r.owner = ? AND r.agent_id = ? AND r.session_id = ?
      AND (r.accepted_at, r.id) < (?, ?)
    ORDER BY r.accepted_at DESC, r.id DESC LIMIT ? OFFSET ?`);
  const placeOf = database.prepare(
    'SELECT accepted_at AS "acceptedAt", id FROM requests WHERE owner = ? AND request_id = ?',
  );
  const lastFrames = database.prepare(
    'SELECT * FROM frames WHERE request = ? AND ends = 1 ORDER BY first DESC LIMIT 1',
  );

  const answerOf = database.prepare(`${SELECT_ANSWER} WHERE r.id = ? AND r.answer IS NOT NULL`);

  const turnOf = (row: StoredRequest): RecordedTurn => {
    const { requestId, envelope, acceptedAt } = checkedRequest(row);
    return { requestId, envelope, final: finalOf(row.id), acceptedAt };
  };

  const finalOf = (request: number): string | null => {
    const row = (answerOf.get(request) ?? lastFrames.get(request)) as FramesRow | undefined;
    return row === undefined ? null : (unpackFrames(row).at(-1)?.text ?? null);
  };

  return {
    listSessions(
      owner: string,
      { offset, limit, agentId = null, cwd = null }: SessionPageQuery,
    ): { rows: SessionRow[]; total: number } {
      const rows = page.all(owner, agentId, cwd, cwd, limit, offset) as SessionRow[];
      return { rows, total: totalOf(count.get(owner, agentId, cwd, cwd)) };
    },

    sessionsNamed: (owner: string, sessionId: string): SessionRow[] => named.all(owner, sessionId) as SessionRow[],

    sessionsWith: (agentId: string) => allWith.all(agentId) as Pick<SessionKey, 'owner' | 'sessionId'>[],

    sessionOwners({ agentId, sessionId }: Omit<SessionKey, 'owner'>): string[] {
      return (owners.all(agentId, sessionId) as { owner: string }[]).map(({ owner }) => owner);
    },

    remoteSession({ owner, agentId, sessionId }: SessionKey): string | null {
      return (remote.get(owner, agentId, sessionId) as { remote: string | null } | undefined)?.remote ?? null;
    },

    turns(key: SessionKey, { offset, limit, maxBytes, before }: TurnsPage): { rows: RecordedTurn[]; total: number } {
      const session = [key.owner, key.agentId, key.sessionId];
      const place = before === undefined ? undefined : placeOf.get(key.owner, before);
      const { acceptedAt, id } = (place ?? BEHIND_ALL) as typeof BEHIND_ALL;
      const rows: RecordedTurn[] = [];
      let left = maxBytes;
      for (const row of pageOfTurns.iterate(...session, acceptedAt, id, limit, offset)) {
        const turn = turnOf(row as StoredRequest);
        left -= turnBytesOf(turn);
        if (left < 0 && rows.length > 0) break;
        rows.push(turn);
      }
      return { rows, total: totalOf(countTurns.get(...session)) };
    },
  };
}

export function sessionWrites(database: Database) {
  const insert = database.prepare(`
    INSERT INTO sessions (owner, agent_id, session_id, title, cwd, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (owner, agent_id, session_id) DO NOTHING`);
  const setRemote = database.prepare(`UPDATE sessions SET remote = ? WHERE ${IN_SESSION}`);

  return {
    createSession(row: SessionRow): void {
      requireStorable(row.owner, row.agentId, row.sessionId, row.title, row.cwd);
      insert.run(row.owner, row.agentId, row.sessionId, row.title, row.cwd, row.createdAt, row.updatedAt);
    },

    setRemoteSession({ owner, agentId, sessionId }: SessionKey, remote: string | null): void {
      setRemote.run(remote, owner, agentId, sessionId);
    },
  };
}

export function sessionRemovals(database: Database) {
  const remove = database.prepare(`DELETE FROM sessions WHERE ${IN_SESSION}`);
  const removeFinished = database.prepare(`
    DELETE FROM requests WHERE id IN (
      SELECT id FROM requests WHERE ${IN_SESSION}
        AND NOT EXISTS (SELECT 1 FROM open_requests o WHERE o.request = requests.id) LIMIT ?)`);
  const letGo = database.prepare(`UPDATE requests SET session_id = NULL WHERE ${IN_SESSION}`);
  const window = database.prepare(
    'SELECT id, created_at AS "createdAt" FROM sessions WHERE id > ? ORDER BY id LIMIT ?',
  );
  const purge = database.prepare(`
    DELETE FROM sessions
    WHERE id > ? AND id <= ? AND updated_at < ? AND NOT EXISTS (
      SELECT 1 FROM requests r
      WHERE r.owner = sessions.owner AND r.agent_id = sessions.agent_id AND r.session_id = sessions.session_id)`);

  return {
    /** Deletes some ended turns per call, so that other calls get their turn in between; 0 when none is left. */
    deleteTurns: ({ owner, agentId, sessionId }: SessionKey): number =>
      Number(removeFinished.run(owner, agentId, sessionId, WINDOW).changes),

    /** Call it after `deleteTurns`. The remaining turns are open; they are kept without a session. */
    deleteSession(key: SessionKey): boolean {
      const session = [key.owner, key.agentId, key.sessionId];
      if (remove.run(...session).changes === 0) return false;
      letGo.run(...session);
      return true;
    },

    /** Purges one window in the order of creation, as the purge of requests does: a new session was used recently. */
    purgeSessions(before: number, from: number): { purged: number; next: number | null } {
      const rows = window.all(from, WINDOW) as { id: number; createdAt: number }[];
      const last = rows.at(-1);
      if (last === undefined || !rows.some(({ createdAt }) => createdAt < before)) return { purged: 0, next: null };
      return { purged: Number(purge.run(from, last.id, before).changes), next: last.id };
    },
  };
}

export interface RowPage {
  readonly offset: number;
  readonly limit: number;
}

export interface TurnsPage extends RowPage {
  readonly maxBytes: number;
  readonly before?: string | undefined;
}

export interface SessionPageQuery extends RowPage {
  readonly agentId?: string | null | undefined;
  readonly cwd?: string | null | undefined;
}

export function turnBytesOf({ envelope, final }: RecordedTurn): number {
  return Buffer.byteLength(envelope) + Buffer.byteLength(final ?? '');
}

function totalOf(row: unknown): number {
  return (row as { total: number }).total;
}

export const SELECT_SESSION = `
  SELECT owner, agent_id AS "agentId", session_id AS "sessionId", title, cwd,
    created_at AS "createdAt", updated_at AS "updatedAt" FROM sessions`;
const BEHIND_ALL = { acceptedAt: Number.MAX_SAFE_INTEGER, id: 0 };
const IN_SESSION = 'owner = ? AND agent_id = ? AND session_id = ?';
const WINDOW = 200;
