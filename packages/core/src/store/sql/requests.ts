import { crc32 } from 'node:zlib';
import type { NonceRow } from '../nonces.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type { Accepted, FrameRow, RequestKey, RequestRow } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { type FramesRow, packFrames, unpackFrames } from './frames.ts';
import { prepareNonceUse } from './nonces.ts';

export function requestReads(database: Database) {
  const byKey = database.prepare(`${SELECT_REQUEST} WHERE r.owner = ? AND r.request_id = ?`);
  const open = database.prepare(`${SELECT_REQUEST} WHERE o.request IS NOT NULL ORDER BY r.accepted_at, r.id`);
  const framesFrom = database.prepare(`
    SELECT f.first, f.count, f.ends, f.lengths, f.text, f.checksum
    FROM requests r JOIN frames f ON f.request = r.id
    WHERE r.owner = ? AND r.request_id = ?
      AND f.first >= (SELECT COALESCE(MAX(p.first), 0) FROM frames p WHERE p.request = r.id AND p.first <= ?)
    ORDER BY f.first`);

  return {
    find(key: RequestKey): RequestRow | undefined {
      const row = byKey.get(key.owner, key.requestId) as StoredRequest | undefined;
      return row === undefined ? undefined : checkedRequest(row);
    },

    unfinished(): RequestRow[] {
      return (open.all() as StoredRequest[]).map(checkedRequest);
    },

    frames(key: RequestKey, range: { after: number; limit: number; maxBytes: number }): FrameRow[] {
      const frames: FrameRow[] = [];
      let bytes = 0;
      for (const row of framesFrom.iterate(key.owner, key.requestId, range.after + 1)) {
        for (const frame of unpackFrames(row as FramesRow)) {
          if (frame.sequence <= range.after) continue;
          if (frame.sequence !== range.after + 1 + frames.length) throw gapIn(key);
          bytes += Buffer.byteLength(frame.text);
          if (frames.length >= range.limit || (bytes > range.maxBytes && frames.length > 0)) return frames;
          frames.push(frame);
        }
      }
      return frames;
    },
  };
}

export function requestWrites(database: Database) {
  const insert = database.prepare(`
    INSERT INTO requests
      (owner, request_id, agent_id, session_id, digest, idempotency_key, envelope, accepted_at, expires_at, priority, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`);
  const byKey = database.prepare(`${SELECT_REQUEST} WHERE r.owner = ? AND r.request_id = ?`);
  const byIdempotencyKey = database.prepare(`${SELECT_REQUEST} WHERE r.owner = ? AND r.idempotency_key = ?`);
  const openUp = database.prepare('INSERT INTO open_requests (request, started) VALUES (?, ?)');
  const touchSession = database.prepare(`
    INSERT INTO sessions (owner, agent_id, session_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (owner, agent_id, session_id) DO UPDATE SET updated_at = excluded.updated_at
      WHERE excluded.updated_at > sessions.updated_at`);
  const start = database.prepare(`
    UPDATE open_requests SET started = 1
    WHERE started = 0 AND request = (SELECT id FROM requests WHERE owner = ? AND request_id = ?)`);
  const progress = database.prepare(`
    SELECT r.id, o.request AS "openId",
      (SELECT f.first + f.count FROM frames f WHERE f.request = r.id ORDER BY f.first DESC LIMIT 1) AS "next"
    FROM requests r LEFT JOIN open_requests o ON o.request = r.id
    WHERE r.owner = ? AND r.request_id = ?`);
  const insertFrames = database.prepare(
    'INSERT INTO frames (request, first, count, ends, lengths, text, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const close = database.prepare('DELETE FROM open_requests WHERE request = ?');
  const useNonce = prepareNonceUse(database);

  return {
    accept(row: RequestRow, nonce?: NonceRow): Accepted {
      requireStorable(row.owner, row.requestId, row.agentId, row.sessionId, row.idempotencyKey, row.envelope);
      if (nonce !== undefined && useNonce(nonce) === 'reused') return { reused: true };
      const { changes, lastInsertRowid } = insert.run(
        row.owner,
        row.requestId,
        row.agentId,
        row.sessionId,
        row.digest,
        row.idempotencyKey,
        row.envelope,
        row.acceptedAt,
        row.expiresAt,
        row.priority,
        checksumOf(row),
      );
      if (changes === 0) {
        const earlier = byKey.get(row.owner, row.requestId) ?? byIdempotencyKey.get(row.owner, row.idempotencyKey);
        return { repeat: true, row: checkedRequest(earlier as StoredRequest) };
      }
      if (row.state !== 'finished') openUp.run(Number(lastInsertRowid), row.state === 'started' ? 1 : 0);
      if (row.sessionId !== null) {
        touchSession.run(row.owner, row.agentId, row.sessionId, row.acceptedAt, row.acceptedAt);
      }
      return { repeat: false };
    },

    start(key: RequestKey): boolean {
      return start.run(key.owner, key.requestId).changes === 1;
    },

    append(key: RequestKey, frames: readonly FrameRow[]): void {
      const request = progress.get(key.owner, key.requestId) as Progress | undefined;
      refuseMisplaced(key, frames, request);
      for (const { text } of frames) requireStorable(text);
      for (const row of packFrames(frames)) {
        insertFrames.run(request.id, row.first, row.count, row.ends, row.lengths, row.text, row.checksum);
      }
      if (frames.at(-1)?.isFinal) close.run(request.id);
    },
  };
}

export function requestRemovals(database: Database) {
  const window = database.prepare(
    'SELECT id, accepted_at AS "acceptedAt" FROM requests WHERE id > ? ORDER BY id LIMIT ?',
  );
  const purge = database.prepare(`
    DELETE FROM requests
    WHERE id > ? AND id <= ? AND accepted_at < ?
      AND NOT EXISTS (SELECT 1 FROM open_requests o WHERE o.request = requests.id)`);

  return {
    /**
     * Looks at the next requests in the order they came, few enough that nobody waits long, and tells where to go on; null
     * when none of them was old, for then those behind are younger still. That saves an index that every request would pay
     * for. Where the clock was set back, some stay until the next time.
     */
    purge(before: number, from: number): { purged: number; next: number | null } {
      const rows = window.all(from, PURGE_WINDOW) as { id: number; acceptedAt: number }[];
      const last = rows.at(-1);
      if (last === undefined || !rows.some(({ acceptedAt }) => acceptedAt < before)) return { purged: 0, next: null };
      return { purged: Number(purge.run(from, last.id, before).changes), next: last.id };
    },
  };
}

const PURGE_WINDOW = 200;

interface Progress {
  readonly id: number;
  readonly openId: number | null;
  /** Null before the first frame. */
  readonly next: number | null;
}

function refuseMisplaced(
  key: RequestKey,
  frames: readonly FrameRow[],
  request: Progress | undefined,
): asserts request is Progress {
  const name = `request ${key.requestId} of ${key.owner}`;
  if (request === undefined) throw new Error(`${name}: frames for a request that was never accepted`);
  if (request.openId === null) throw new Error(`${name}: a frame after the final one`);
  let expected = request.next ?? 0;
  for (const { sequence } of frames) {
    if (sequence !== expected) throw new Error(`${name}: frame ${sequence} where ${expected} was expected`);
    expected += 1;
  }
  if (frames.slice(0, -1).some(({ isFinal }) => isFinal)) throw new Error(`${name}: a frame after the final one`);
}

export interface StoredRequest extends RequestRow {
  readonly id: number;
  readonly checksum: number;
}

/** SQLite does not notice a flipped bit inside a text: we do, rather than hand out what nobody wrote. */
export function checkedRequest({ id, checksum, ...row }: StoredRequest): RequestRow {
  if (checksum !== checksumOf(row)) {
    throw new StoreError('store_damaged', `Request ${row.requestId} of ${row.owner} is damaged in the database.`);
  }
  return row;
}

function gapIn({ owner, requestId }: RequestKey): StoreError {
  return new StoreError('store_damaged', `Frames of request ${requestId} of ${owner} are missing in the database.`);
}

function checksumOf(row: RequestRow): number {
  return [row.owner, row.requestId, row.agentId, row.digest, row.envelope].reduce((sum, text) => crc32(text, sum), 0);
}

export const SELECT_REQUEST = `
  SELECT r.id, r.owner, r.request_id AS "requestId", r.agent_id AS "agentId", r.session_id AS "sessionId", r.digest,
    r.idempotency_key AS "idempotencyKey", r.envelope,
    CASE o.started WHEN 0 THEN 'accepted' WHEN 1 THEN 'started' ELSE 'finished' END AS state,
    r.accepted_at AS "acceptedAt", r.expires_at AS "expiresAt", r.priority, r.checksum
  FROM requests r LEFT JOIN open_requests o ON o.request = r.id`;
