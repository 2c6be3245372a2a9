import { crc32 } from 'node:zlib';
import type { NonceRow } from '../nonces.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type { ArrivedRow, FrameRow, RequestKey, RequestName, RequestRow } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { epochOf } from './commits.ts';
import { type FramesRow, frameChecksumOf, unpackFrames } from './frames.ts';
import { prepareNonceUse } from './nonces.ts';
import { ownersIn } from './owners.ts';
import { prepareLetter } from './threads.ts';
import type { FramesValues, RequestValues } from './values.ts';

export function requestReads(database: Database) {
  const byKey = database.prepare(`${SELECT_REQUEST} WHERE r.owner = ? AND r.request_id = ?`);
  const byIdempotencyKey = database.prepare(`${SELECT_REQUEST} WHERE r.owner = ? AND r.idempotency_key = ?`);
  const byName = database.prepare(`
    ${ownersIn('requests')} ${SELECT_ARRIVED} JOIN owners ON owners.name = r.owner WHERE r.request_id = ?
    ORDER BY r.accepted_at DESC, r.id DESC`);
  const answerOf = database.prepare(`${SELECT_ANSWER} WHERE r.owner = ? AND r.request_id = ? AND r.answer IS NOT NULL`);
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

    earlier({ owner, requestId, idempotencyKey }: RequestName): RequestRow | undefined {
      const row = byKey.get(owner, requestId) ?? byIdempotencyKey.get(owner, idempotencyKey);
      return row === undefined ? undefined : checkedRequest(row as StoredRequest);
    },

    named(requestId: string): ArrivedRow[] {
      return (byName.all(requestId) as (StoredRequest & { arrival: string | null })[]).map(({ arrival, ...row }) => ({
        ...checkedRequest(row),
        arrival,
      }));
    },

    frames(key: RequestKey, range: { after: number; limit: number; maxBytes: number }): FrameRow[] {
      const frames: FrameRow[] = [];
      let bytes = 0;
      const answer = answerOf.get(key.owner, key.requestId);
      const rows = answer === undefined ? framesFrom.iterate(key.owner, key.requestId, range.after + 1) : [answer];
      for (const row of rows) {
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
  const epoch = epochOf(database);
  const insert = database.prepare(`
    INSERT INTO requests
      (owner, request_id, agent_id, session_id, idempotency_key, envelope, accepted_at, expires_at, priority, checksum, arrival,
        answer_count, answer_lengths, answer, answer_checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`);
  const byKey = database.prepare(`${SELECT_REQUEST} WHERE r.owner = ? AND r.request_id = ?`);
  const byIdempotencyKey = database.prepare(`${SELECT_REQUEST} WHERE r.owner = ? AND r.idempotency_key = ?`);
  const openUp = database.prepare(`INSERT INTO open_requests (request, started, epoch) VALUES (?, ?, ${epoch})`);
  const touchSession = database.prepare(`
    INSERT INTO sessions (owner, agent_id, session_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (owner, agent_id, session_id) DO UPDATE SET updated_at = excluded.updated_at
      WHERE excluded.updated_at > sessions.updated_at`);
  const start = database.prepare(
    'UPDATE open_requests SET started = 1 WHERE request = ? AND epoch = ? AND started = 0',
  );
  const progress = database.prepare(`
    SELECT o.request AS id,
      (SELECT f.first + f.count FROM frames f WHERE f.request = o.request ORDER BY f.first DESC LIMIT 1) AS "next"
    FROM open_requests o WHERE o.request = ? AND o.epoch = ?`);
  const unclaimed = database.prepare(`${SELECT_REQUEST} WHERE o.epoch < ? ORDER BY r.accepted_at, r.id LIMIT ?`);
  const claim = database.prepare(`UPDATE open_requests SET epoch = ${epoch} WHERE request = ?`);
  const insertFrames = database.prepare(
    'INSERT INTO frames (request, first, count, ends, lengths, text, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const close = database.prepare('DELETE FROM open_requests WHERE request = ?');
  const answering = database.prepare('UPDATE open_requests SET answering_since = ? WHERE request = ?');
  const end = database.prepare(`
    INSERT INTO ended_requests (request, owner, agent_id, ending, ended_at)
    SELECT id, owner, agent_id, COALESCE(?, ''), COALESCE(?, accepted_at) FROM requests WHERE id = ?`);
  const useNonce = prepareNonceUse(database);
  const openLetter = prepareLetter(database);
  const noteOpen = database.prepare(`
    INSERT INTO late_requests (request, open_at)
    SELECT o.request, ? FROM open_requests o JOIN requests r ON r.id = o.request WHERE r.accepted_at < ?
    ON CONFLICT (request) DO UPDATE SET open_at = excluded.open_at`);

  /**
   * Records a request, with its answer and letter if it has them. Returns its number, or the earlier request if it is a
   * repeat.
   */
  function record(answer: FramesRow | undefined, ...values: RequestValues): number | RequestRow {
    const [
      owner,
      requestId,
      agentId,
      sessionId,
      idempotencyKey,
      envelope,
      acceptedAt,
      expiresAt,
      priority,
      state,
      arrival,
      letter,
    ] = values;
    requireStorable(owner, requestId, agentId, sessionId, idempotencyKey, envelope);
    const checksum = requestChecksumOf({ owner, requestId, agentId, envelope });
    const { changes, lastInsertRowid } = insert.run(
      owner,
      requestId,
      agentId,
      sessionId,
      idempotencyKey,
      envelope,
      acceptedAt,
      expiresAt,
      priority,
      checksum,
      arrival,
      answer?.count ?? null,
      answer?.lengths ?? null,
      answer?.text ?? null,
      answer?.checksum ?? null,
    );
    if (changes === 0) {
      const earlier = byKey.get(owner, requestId) ?? byIdempotencyKey.get(owner, idempotencyKey);
      return checkedRequest(earlier as StoredRequest);
    }
    const id = Number(lastInsertRowid);
    if (state !== 'finished') openUp.run(id, state === 'started' ? 1 : 0);
    if (sessionId !== null) touchSession.run(owner, agentId, sessionId, acceptedAt, acceptedAt);
    if (letter !== null) openLetter({ owner, requestId, agentId, threadId: letter[0], acceptedAt }, letter);
    return id;
  }

  /** Returns the number of the recorded request, or the earlier request if it is a repeat. */
  function accept(...values: RequestValues): RequestRow | number {
    return record(undefined, ...values);
  }

  function addFrames(request: Progress, rows: readonly FramesValues[]): void {
    for (const values of rows) {
      const [first, count, ends, lengths, text, changedAt, ending] = values;
      refuseMisplaced(first, request);
      insertFrames.run(request.id, first, count, ends, lengths, text, framesRow(values).checksum);
      request.next = first + count;
      if (ends === 1) {
        close.run(request.id);
        end.run(ending, changedAt, request.id);
      } else if (changedAt !== null) answering.run(changedAt, request.id);
    }
  }

  return {
    accept,

    /** `frames` is the whole answer. If it is a single row, as usual, it becomes part of the request's row. */
    acceptAnswered(frames: readonly FramesValues[], ...values: RequestValues): RequestRow | null {
      const [only] = frames;
      const isOne = only !== undefined && frames.length === 1;
      const recorded = record(isOne ? framesRow(only) : undefined, ...values);
      if (typeof recorded !== 'number') return recorded;
      if (!isOne) addFrames({ id: recorded, next: null }, frames);
      else end.run(only[6], only[5], recorded);
      return null;
    },

    /** Like `accept`, but also records the nonce of the signature, in the same transaction. */
    acceptSigned(nonce: NonceRow, ...values: RequestValues): RequestRow | 'reused' | number {
      return useNonce(nonce) === 'reused' ? 'reused' : accept(...values);
    },

    start(id: number, held: number): boolean {
      return start.run(id, held).changes === 1;
    },

    claimRequests(limit: number): { id: number; row: RequestRow }[] {
      return (unclaimed.all(epoch, limit) as StoredRequest[]).map((stored) => {
        claim.run(stored.id);
        return { id: stored.id, row: checkedRequest(stored) };
      });
    },

    noteOpen(acceptedBefore: number, now: number): void {
      noteOpen.run(now, acceptedBefore);
    },

    append(id: number, held: number, rows: readonly FramesValues[]): void {
      const request = progress.get(id, held) as Progress | undefined;
      if (request === undefined) throw notHeld('request', id);
      addFrames(request, rows);
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
      AND NOT EXISTS (SELECT 1 FROM open_requests o WHERE o.request = requests.id)
      AND NOT EXISTS (SELECT 1 FROM late_requests l WHERE l.request = requests.id AND l.open_at >= ?)`);

  return {
    /**
     * Purges one window, in the order in which requests were recorded. `next` is null when no request of the window is
     * old, because later ones are newer. So no index by age is needed, but some requests stay longer if the clock was
     * set back.
     */
    purge(before: number, from: number): { purged: number; next: number | null } {
      const rows = window.all(from, PURGE_WINDOW) as { id: number; acceptedAt: number }[];
      const last = rows.at(-1);
      if (last === undefined || !rows.some(({ acceptedAt }) => acceptedAt < before)) return { purged: 0, next: null };
      return { purged: Number(purge.run(from, last.id, before, before).changes), next: last.id };
    },
  };
}

const PURGE_WINDOW = 200;

interface Progress {
  readonly id: number;
  /** Null before the first frame. */
  next: number | null;
}

function refuseMisplaced(sequence: number, { id, next }: Progress): void {
  const expected = next ?? 0;
  if (sequence !== expected) throw new Error(`request ${id}: frame ${sequence} where ${expected} was expected`);
}

export function notHeld(kind: 'request' | 'execution', id: number): StoreError {
  return new StoreError(
    'not_held',
    `The ${kind} number ${id} is not held: it has ended, or another process claimed it.`,
  );
}

export interface StoredRequest extends RequestRow {
  readonly id: number;
  readonly checksum: number;
}

/** SQLite does not notice a flipped bit inside a text, so checksums detect it. */
export function checkedRequest({ id, checksum, ...row }: StoredRequest): RequestRow {
  if (checksum !== requestChecksumOf(row)) {
    throw new StoreError('store_damaged', `Request ${row.requestId} of ${row.owner} is damaged in the database.`);
  }
  return row;
}

export function framesRow([first, count, ends, lengths, text]: FramesValues): FramesRow {
  requireStorable(text);
  return { first, count, ends, lengths, text, checksum: frameChecksumOf({ first, count, ends, lengths, text }) };
}

export function gapIn({ owner, requestId }: RequestKey): StoreError {
  return new StoreError('store_damaged', `Frames of request ${requestId} of ${owner} are missing in the database.`);
}

export function requestChecksumOf(row: Pick<RequestRow, 'owner' | 'requestId' | 'agentId' | 'envelope'>): number {
  return crc32(`${row.owner}\n${row.requestId}\n${row.agentId}\n${row.envelope}`);
}

export const SELECT_REQUEST = `
  SELECT r.id, r.owner, r.request_id AS "requestId", r.agent_id AS "agentId", r.session_id AS "sessionId",
    r.idempotency_key AS "idempotencyKey", r.envelope,
    CASE o.started WHEN 0 THEN 'accepted' WHEN 1 THEN 'started' ELSE 'finished' END AS state,
    r.accepted_at AS "acceptedAt", r.expires_at AS "expiresAt", r.priority, r.checksum
  FROM requests r LEFT JOIN open_requests o ON o.request = r.id`;

/** The answer that was recorded with a request, as a row of its frames. */
export const SELECT_ANSWER = `
  SELECT 0 AS first, r.answer_count AS count, 1 AS ends, r.answer_lengths AS lengths, r.answer AS text,
    r.answer_checksum AS checksum
  FROM requests r`;

export const SELECT_ARRIVED = SELECT_REQUEST.replace('r.checksum', 'r.checksum, r.arrival');
