import { type FramesRow, unpackFrames } from '../sql/frames.ts';
import { checkedRequest, SELECT_REQUEST, type StoredRequest } from '../sql/requests.ts';
import { SELECT_SESSION, turnBytesOf } from '../sql/sessions.ts';
import { requireStorable } from '../storable.ts';
import type { RecordedTurn, SessionKey, SessionRow, SessionStore } from '../store.ts';
import { bigints } from './arrays.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import { purgeInTurn } from './owner-lock.ts';
import { deleteRequests } from './removals.ts';
import { deleteThread } from './threads.ts';

export function sessionStore(database: PostgresDatabase): SessionStore {
  const { read } = database;
  return {
    create: async (row) => {
      const { owner, agentId, sessionId, title, cwd, createdAt, updatedAt } = row;
      requireStorable(owner, agentId, sessionId, title, cwd);
      await database.write((queries) =>
        queries.run(INSERT, owner, agentId, sessionId, title, cwd, createdAt, updatedAt),
      );
    },

    list: async (owner, { offset, limit, agentId = null, cwd = null }) => {
      const conditions = [owner, agentId, cwd];
      const rows = await read.all<SessionRow>(PAGE, ...conditions, limit, offset);
      return { rows, total: await totalOf(read, COUNT, ...conditions) };
    },

    named: (owner, sessionId) => read.all<SessionRow>(NAMED, owner, sessionId),

    delete: async (key) => {
      const { owner, agentId, sessionId } = key;
      let messages = 0;
      for (let some = -1; some !== 0; messages += some) {
        some = await database.write((queries) => deleteThread(queries, key));
      }
      for (let some = -1; some !== 0; ) {
        some = await database.write(async (queries) => {
          const ids = await queries.all<{ id: number }>(FINISHED, owner, agentId, sessionId, WINDOW);
          return deleteRequests(
            queries,
            ids.map(({ id }) => id),
          );
        });
      }
      const isThere = await database.write(async (queries) => {
        const removed = await queries.run(`DELETE FROM sessions WHERE ${IN_SESSION}`, owner, agentId, sessionId);
        if (removed > 0) {
          await queries.run(`UPDATE requests SET session_id = NULL WHERE ${IN_SESSION}`, owner, agentId, sessionId);
        }
        return removed > 0;
      });
      return isThere || messages > 0;
    },

    remote: async ({ owner, agentId, sessionId }) =>
      (
        await read.get<{ remote: string | null }>(
          `SELECT remote FROM sessions WHERE ${IN_SESSION}`,
          owner,
          agentId,
          sessionId,
        )
      )?.remote ?? null,

    setRemote: async ({ owner, agentId, sessionId }, remote) => {
      requireStorable(remote);
      await database.write((queries) =>
        queries.run(`UPDATE sessions SET remote = $4 WHERE ${IN_SESSION}`, owner, agentId, sessionId, remote),
      );
    },

    allWith: (agentId) =>
      read.all<Pick<SessionKey, 'owner' | 'sessionId'>>(
        'SELECT owner, session_id AS "sessionId" FROM sessions WHERE agent_id = $1',
        agentId,
      ),

    owners: async ({ agentId, sessionId }) =>
      (
        await read.all<{ owner: string }>(
          'SELECT owner FROM sessions WHERE agent_id = $1 AND session_id = $2 LIMIT 2',
          agentId,
          sessionId,
        )
      ).map(({ owner }) => owner),

    turns: async (key, { offset, limit, maxBytes, before }) => {
      const session = [key.owner, key.agentId, key.sessionId];
      const place = before === undefined ? undefined : await read.get<typeof BEHIND_ALL>(PLACE_OF, key.owner, before);
      const { acceptedAt, id } = place ?? BEHIND_ALL;
      const stored = await read.all<StoredRequest>(TURNS, ...session, acceptedAt, id, limit, offset, maxBytes);
      const finals = await finalsOf(
        read,
        stored.map((row) => row.id),
      );
      const rows: RecordedTurn[] = [];
      let left = maxBytes;
      for (const row of stored) {
        const { requestId, envelope, acceptedAt: at } = checkedRequest(row);
        const turn = { requestId, envelope, final: finals.get(row.id) ?? null, acceptedAt: at };
        left -= turnBytesOf(turn);
        if (left < 0 && rows.length > 0) break;
        rows.push(turn);
      }
      return { rows, total: await totalOf(read, COUNT_TURNS, ...session) };
    },

    purge: async (before) => {
      let purged = 0;
      for (let from = 0; ; ) {
        const window = await read.all<{ id: number; createdAt: number }>(OLDEST, from, WINDOW);
        const last = window.at(-1);
        if (last === undefined || !window.some(({ createdAt }) => createdAt < before)) return purged;
        const start = from;
        purged += await purgeInTurn(database, 'sessions', PURGE, start, last.id, before);
        from = last.id;
      }
    },
  };
}

/** The final frame of each request that has one. */
async function finalsOf(read: Queries, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await read.all<FramesRow & { request: number }>(FINALS, bigints(ids));
  return new Map(rows.map(({ request, ...row }) => [request, unpackFrames(row).at(-1)?.text ?? '']));
}

async function totalOf(read: Queries, text: string, ...values: unknown[]): Promise<number> {
  return (await read.get<{ total: number }>(text, ...values))?.total ?? 0;
}

const IN_SESSION = 'owner = $1 AND agent_id = $2 AND session_id = $3';
const INSERT = `
  INSERT INTO sessions (owner, agent_id, session_id, title, cwd, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (owner, agent_id, session_id) DO NOTHING`;
const WANTED = 'owner = $1 AND ($2::text IS NULL OR agent_id = $2) AND ($3::text IS NULL OR cwd = $3)';
const PAGE = `${SELECT_SESSION} WHERE ${WANTED} ORDER BY updated_at DESC, id DESC LIMIT $4 OFFSET $5`;
const COUNT = `SELECT count(*) AS total FROM sessions WHERE ${WANTED}`;
const NAMED = `${SELECT_SESSION} WHERE owner = $1 AND session_id = $2 ORDER BY updated_at DESC, id DESC LIMIT 100`;
const FINISHED = `
  SELECT id FROM requests r WHERE ${IN_SESSION} AND NOT EXISTS (SELECT 1 FROM open_requests o WHERE o.request = r.id) LIMIT $4`;
const PLACE_OF = 'SELECT accepted_at AS "acceptedAt", id FROM requests WHERE owner = $1 AND request_id = $2';
const COUNT_TURNS = `SELECT count(*) AS total FROM requests WHERE ${IN_SESSION}`;
/** Selects as many turns as fit by the bytes of their envelopes, and one more. */
const TURNS = `
  SELECT * FROM (
    SELECT t.*, SUM(octet_length(t.envelope)) OVER (ORDER BY t."acceptedAt" DESC, t.id DESC) - octet_length(t.envelope) AS before FROM (
      ${SELECT_REQUEST} WHERE r.owner = $1 AND r.agent_id = $2 AND r.session_id = $3 AND (r.accepted_at, r.id) < ($4::bigint, $5::bigint)
      ORDER BY r.accepted_at DESC, r.id DESC LIMIT $6 OFFSET $7) AS t) AS measured
  WHERE before <= $8 ORDER BY "acceptedAt" DESC, id DESC`;
const FINALS = `
  SELECT r.id AS request, 0 AS first, r.answer_count AS count, 1 AS ends, r.answer_lengths AS lengths, r.answer AS text,
    r.answer_checksum AS checksum
  FROM requests r WHERE r.id = ANY($1::bigint[]) AND r.answer IS NOT NULL
  UNION ALL
  SELECT request, first, count, ends, lengths, text, checksum FROM frames WHERE request = ANY($1::bigint[]) AND ends = 1`;
const OLDEST = 'SELECT id, created_at AS "createdAt" FROM sessions WHERE id > $1 ORDER BY id LIMIT $2';
const PURGE = `
  DELETE FROM sessions s WHERE s.id > $1 AND s.id <= $2 AND s.updated_at < $3 AND NOT EXISTS (
    SELECT 1 FROM requests r WHERE r.owner = s.owner AND r.agent_id = s.agent_id AND r.session_id = s.session_id)`;
const BEHIND_ALL = { acceptedAt: Number.MAX_SAFE_INTEGER, id: 0 };
const WINDOW = 200;
