import type { Log } from '../../ports/ports.ts';
import type { NonceRow } from '../nonces.ts';
import { type FramesRow, unpackFrames } from '../sql/frames.ts';
import { ownersIn } from '../sql/owners.ts';
import {
  checkedRequest,
  framesRow,
  gapIn,
  notHeld,
  requestChecksumOf,
  SELECT_ANSWER,
  SELECT_ARRIVED,
  SELECT_REQUEST,
  type StoredRequest,
} from '../sql/requests.ts';
import { type FramesValues, framesValues } from '../sql/values.ts';
import { requireStorable, requireWhole } from '../storable.ts';
import type {
  Accepted,
  Claimed,
  FrameRow,
  Held,
  RecordedWith,
  RequestKey,
  RequestRow,
  RequestStore,
} from '../store.ts';
import { bigints, integers, texts } from './arrays.ts';
import { readableRequests } from './damages.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import { GONE_NODES } from './gone.ts';
import { Group } from './group.ts';
import { useNonce } from './nonces.ts';
import { lockOwner } from './owner-lock.ts';
import { deleteRequests } from './removals.ts';
import { listRequests } from './request-list.ts';
import { openLetter } from './threads.ts';

export function requestStore(database: PostgresDatabase, log?: Log): RequestStore {
  const accepting = new Group<NewRequest, number | null>({
    keyOf: ({ row }) => `${row.owner}\n${row.requestId}`,
    write: (items) => database.write((queries) => insertRequests(queries, database.node, items)),
  });
  const starting = new Group<Held, boolean>({
    keyOf: ({ id }) => String(id),
    write: async (items) => {
      const started = await database.write((queries) =>
        queries.all<{ request: number }>(
          START,
          database.node,
          bigints(items.map(({ id }) => id)),
          bigints(items.map(({ epoch }) => epoch)),
        ),
      );
      const ids = new Set(started.map(({ request }) => request));
      return items.map(({ id }) => ids.has(id));
    },
  });
  const appending = new Group<Appended, void>({
    keyOf: ({ held }) => String(held.id),
    write: (items) => database.write((queries) => appendFrames(queries, database.node, items)),
  });

  const earlier = async ({ owner, requestId, idempotencyKey }: Parameters<RequestStore['earlier']>[0]) => {
    const row =
      (await database.read.get<StoredRequest>(BY_KEY, owner, requestId)) ??
      (idempotencyKey === null
        ? undefined
        : await database.read.get<StoredRequest>(BY_IDEMPOTENCY_KEY, owner, idempotencyKey));
    return row === undefined ? undefined : checkedRequest(row);
  };

  /** Repeats until the request is recorded or an earlier one is found: the earlier one may be deleted in between. */
  const accept = async (row: RequestRow, record: () => Promise<number | 'reused' | null>): Promise<Accepted> => {
    for (;;) {
      const recorded = await record();
      if (recorded === 'reused') return { reused: true };
      if (recorded !== null) {
        return { repeat: false, held: row.state === 'finished' ? null : { id: recorded, epoch: FIRST_EPOCH } };
      }
      const found = await earlier(row);
      if (found !== undefined) return { repeat: true, row: found };
    }
  };

  return {
    accept: async (row, beside = {}) => {
      const item = newRequest(row, [], beside);
      const { nonce, letter, holder } = beside;
      if (nonce === undefined && letter === undefined && holder === undefined)
        return accept(row, () => accepting.add(item));
      return accept(row, () => database.write((queries) => recordWith(queries, database.node, item, beside)));
    },

    acceptAnswered: async (row, frames, beside = {}) => {
      requireWhole(row, frames);
      const item = newRequest({ ...row, state: 'finished' }, framesValues(frames), beside);
      const isAlone = item.frames.length === 1 && beside.letter === undefined;
      return accept(item.row, () =>
        isAlone ? accepting.add(item) : database.write((queries) => recordWith(queries, database.node, item, beside)),
      );
    },

    start: (held) => starting.add(held),

    append: async (held, frames) => {
      if (frames.length > 0) await appending.add({ held, rows: framesValues(frames).map(checkedValues) });
    },

    find: async ({ owner, requestId }) => {
      const row = await database.read.get<StoredRequest>(BY_KEY, owner, requestId);
      return row === undefined ? undefined : checkedRequest(row);
    },

    earlier,

    named: async (requestId) =>
      (await database.read.all<StoredRequest & { arrival: string | null }>(BY_NAME, requestId)).map(
        ({ arrival, ...row }) => ({ ...checkedRequest(row), arrival }),
      ),

    frames: (key, range) => readFrames(database.read, key, range),

    list: (query) => listRequests(database.read, query),

    claim: (limit) =>
      database.write(async (queries) => {
        const rows = await queries.all<StoredRequest & { epoch: number }>(CLAIM, database.node, limit);
        return (await readableRequests(queries, rows, log)).map(claimedRequest);
      }),

    noteOpen: async (acceptedBefore, now) => {
      await database.write((queries) => queries.run(NOTE_OPEN, now, acceptedBefore));
    },

    purge: async (before) => {
      let purged = 0;
      for (let from = 0; ; ) {
        const window = await database.read.all<{ id: number; acceptedAt: number }>(WINDOW, from, PURGE_WINDOW);
        const last = window.at(-1);
        if (last === undefined || !window.some(({ acceptedAt }) => acceptedAt < before)) return purged;
        purged += await database.write(async (queries) => {
          await lockOwner(queries, 'purge', 'requests');
          const old = await queries.all<{ id: number }>(OLD, from, last.id, before);
          return deleteRequests(
            queries,
            old.map(({ id }) => id),
          );
        });
        from = last.id;
      }
    },
  };
}

export function claimedRequest({ epoch, ...row }: StoredRequest & { readonly epoch: number }): Claimed<RequestRow> {
  return { row: checkedRequest(row), held: { id: row.id, epoch } };
}

interface NewRequest {
  readonly row: RequestRow;
  readonly arrival: string | null;
  /** The whole answer, if it is recorded together with the request. */
  readonly frames: readonly FramesValues[];
  /** The whole answer, if it is a single row, which is stored in the row of the request. */
  readonly answer: FramesRow | undefined;
}

interface Appended {
  readonly held: Held;
  readonly rows: readonly FramesValues[];
}

function newRequest(row: RequestRow, frames: readonly FramesValues[], { arrival }: RecordedWith): NewRequest {
  requireStorable(
    row.owner,
    row.requestId,
    row.agentId,
    row.sessionId,
    row.idempotencyKey,
    row.envelope,
    arrival ?? null,
  );
  for (const [, , , , text] of frames) requireStorable(text);
  const [only] = frames;
  const answer = only !== undefined && frames.length === 1 ? framesRow(only) : undefined;
  return { row, arrival: arrival ?? null, frames, answer };
}

function checkedValues(values: FramesValues): FramesValues {
  requireStorable(values[4]);
  return values;
}

/** Returns the number of each request, or null for one that exists already. */
async function insertRequests(
  queries: Queries,
  node: number,
  items: readonly NewRequest[],
  epoch = FIRST_EPOCH,
): Promise<(number | null)[]> {
  const of = <Value>(value: (item: NewRequest) => Value) => items.map(value);
  const added = await queries.all<{ id: number; place: number }>(
    INSERT,
    node,
    texts(of(({ row }) => row.owner)),
    texts(of(({ row }) => row.requestId)),
    texts(of(({ row }) => row.agentId)),
    texts(of(({ row }) => row.sessionId)),
    texts(of(({ row }) => row.idempotencyKey)),
    texts(of(({ row }) => row.envelope)),
    bigints(of(({ row }) => row.acceptedAt)),
    bigints(of(({ row }) => row.expiresAt)),
    integers(of(({ row }) => row.priority)),
    bigints(of(({ row }) => requestChecksumOf(row))),
    texts(of(({ arrival }) => arrival)),
    integers(of(({ answer }) => answer?.count ?? null)),
    texts(of(({ answer }) => answer?.lengths ?? null)),
    texts(of(({ answer }) => answer?.text ?? null)),
    bigints(of(({ answer }) => answer?.checksum ?? null)),
    integers(of(({ row }) => ({ accepted: 0, started: 1, finished: 2 })[row.state])),
    texts(of(({ frames }) => frames.at(-1)?.[6] ?? null)),
    bigints(of(({ frames }) => frames.at(-1)?.[5] ?? null)),
    epoch,
  );
  const ids: (number | null)[] = items.map(() => null);
  for (const { id, place } of added) ids[place - 1] = id;
  return ids;
}

/** Records a request with its nonce, its answer and its letter in one transaction. */
async function recordWith(
  queries: Queries,
  node: number,
  item: NewRequest,
  { nonce, letter, holder }: RecordedWith,
): Promise<number | 'reused' | null> {
  if (nonce !== undefined && (await isReused(queries, nonce))) return 'reused';
  const [id = null] = await insertRequests(queries, holder ?? node, [item], holder === undefined ? FIRST_EPOCH : 0);
  if (id === null) return null;
  if (item.answer === undefined && item.frames.length > 0) {
    await queries.run(INSERT_FRAMES, ...frameArrays(item.frames.map((rows): NumberedFrames => [id, rows])));
  }
  if (letter !== undefined) await openLetter(queries, node, item.row, letter);
  return id;
}

async function isReused(queries: Queries, nonce: NonceRow): Promise<boolean> {
  return (await useNonce(queries, nonce)) === 'reused';
}

async function appendFrames(
  queries: Queries,
  node: number,
  items: readonly Appended[],
): Promise<(Error | undefined)[]> {
  const of = <Value>(value: (first: FramesValues, last: FramesValues, held: Held) => Value) =>
    items.map(({ held, rows }) => value(rows[0] as FramesValues, rows.at(-1) as FramesValues, held));
  const taken = await queries.all<{ request: number }>(
    APPEND,
    node,
    bigints(of((_first, _last, { id }) => id)),
    bigints(of((_first, _last, { epoch }) => epoch)),
    integers(of(([first]) => first)),
    integers(of((_first, [start, count]) => start + count)),
    integers(of((_first, [, , ends]) => ends)),
    bigints(of((first, last) => last[5] ?? first[5])),
    texts(of((_first, last) => last[6])),
    ...frameArrays(items.flatMap(({ held: { id }, rows }) => rows.map((values): NumberedFrames => [id, values]))),
  );
  const held = new Set(taken.map(({ request }) => request));
  const refused = items.filter(({ held: { id } }) => !held.has(id)).map(({ held }) => held);
  const open =
    refused.length === 0 ? [] : await queries.all<Progress>(PROGRESS, node, bigints(refused.map(({ id }) => id)));
  return items.map(({ held: { id, epoch }, rows }) => {
    if (held.has(id)) return undefined;
    const progress = open.find((one) => one.request === id && one.epoch === epoch);
    if (progress === undefined) return notHeld('request', id);
    return new Error(`request ${id}: frame ${rows[0]?.[0]} where ${progress.next} was expected`);
  });
}

interface Progress {
  readonly request: number;
  readonly epoch: number;
  readonly next: number;
}

/** A row of frames with the number of its request. */
type NumberedFrames = readonly [number, FramesValues];

function frameArrays(rows: readonly NumberedFrames[]): Buffer[] {
  const packed = rows.map(([id, values]) => ({ id, ...framesRow(values) }));
  return [
    bigints(packed.map(({ id }) => id)),
    integers(packed.map(({ first }) => first)),
    integers(packed.map(({ count }) => count)),
    integers(packed.map(({ ends }) => ends)),
    texts(packed.map(({ lengths }) => lengths)),
    texts(packed.map(({ text }) => text)),
    bigints(packed.map(({ checksum }) => checksum)),
  ];
}

async function readFrames(
  read: Queries,
  key: RequestKey,
  { after, limit, maxBytes }: { after: number; limit: number; maxBytes: number },
): Promise<FrameRow[]> {
  const { owner, requestId } = key;
  const rows = await read.all<FramesRow>(FRAMES, owner, requestId, after + 1, maxBytes + ROOM, limit + 1);
  const frames: FrameRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    for (const frame of unpackFrames(row)) {
      if (frame.sequence <= after) continue;
      if (frame.sequence !== after + 1 + frames.length) throw gapIn(key);
      bytes += Buffer.byteLength(frame.text);
      if (frames.length >= limit || (bytes > maxBytes && frames.length > 0)) return frames;
      frames.push(frame);
    }
  }
  return frames;
}

const BY_KEY = `${SELECT_REQUEST} WHERE r.owner = $1 AND r.request_id = $2`;
const BY_IDEMPOTENCY_KEY = `${SELECT_REQUEST} WHERE r.owner = $1 AND r.idempotency_key = $2`;
const BY_NAME = `
  ${ownersIn('requests')} ${SELECT_ARRIVED} JOIN owners ON owners.name = r.owner WHERE r.request_id = $1
  ORDER BY r.accepted_at DESC, r.id DESC`;

const INSERT = `
  WITH input AS (
    SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[],
      $10::integer[], $11::bigint[], $12::text[], $13::integer[], $14::text[], $15::text[], $16::bigint[], $17::integer[], $18::text[],
      $19::bigint[])
      WITH ORDINALITY AS i (owner, request_id, agent_id, session_id, idempotency_key, envelope, accepted_at, expires_at, priority,
        checksum, arrival, answer_count, answer_lengths, answer, answer_checksum, state, ending, ended_at, place)
  ), added AS (
    INSERT INTO requests (owner, request_id, agent_id, session_id, idempotency_key, envelope, accepted_at, expires_at, priority,
      checksum, arrival, answer_count, answer_lengths, answer, answer_checksum)
    SELECT owner, request_id, agent_id, session_id, idempotency_key, envelope, accepted_at, expires_at, priority,
      checksum, arrival, answer_count, answer_lengths, answer, answer_checksum
    FROM input ORDER BY owner COLLATE "C", request_id COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING id, owner, request_id
  ), recorded AS (
    SELECT a.id, i.* FROM added a JOIN input i ON i.owner = a.owner AND i.request_id = a.request_id
  ), opened AS (
    INSERT INTO open_requests (request, holder, epoch, started, next)
    SELECT id, $1::bigint, $20::bigint, state, 0 FROM recorded WHERE state < 2
  ), ended AS (
    INSERT INTO ended_requests (request, owner, agent_id, ending, ended_at)
    SELECT id, owner, agent_id, COALESCE(ending, ''), COALESCE(ended_at, accepted_at) FROM recorded WHERE state = 2
  ), used AS (
    INSERT INTO sessions (owner, agent_id, session_id, created_at, updated_at)
    SELECT owner, agent_id, session_id, MIN(accepted_at), MAX(accepted_at) FROM recorded WHERE session_id IS NOT NULL
    GROUP BY owner, agent_id, session_id ORDER BY owner, agent_id, session_id
    ON CONFLICT (owner, agent_id, session_id) DO UPDATE SET updated_at = excluded.updated_at
      WHERE excluded.updated_at > sessions.updated_at
  )
  SELECT id, place FROM recorded`;

const START = `
  UPDATE open_requests o SET started = 1 FROM unnest($2::bigint[], $3::bigint[]) AS i (request, epoch)
  WHERE o.request = i.request AND o.holder = $1 AND o.epoch = i.epoch AND o.started = 0 RETURNING o.request`;

/** If the final frame is among the frames, the row in `open_requests` is deleted instead of updated. */
const APPEND = `
  WITH input AS (
    SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::bigint[], $8::text[])
      AS i (request, epoch, first, next, ends, changed_at, ending)
  ), moved AS (
    UPDATE open_requests o SET next = i.next, answering_since = COALESCE(i.changed_at, o.answering_since) FROM input i
    WHERE i.ends = 0 AND o.request = i.request AND o.holder = $1 AND o.epoch = i.epoch AND o.next = i.first RETURNING o.request
  ), closed AS (
    DELETE FROM open_requests o USING input i
    WHERE i.ends = 1 AND o.request = i.request AND o.holder = $1 AND o.epoch = i.epoch AND o.next = i.first RETURNING o.request
  ), ended AS (
    INSERT INTO ended_requests (request, owner, agent_id, ending, ended_at)
    SELECT r.id, r.owner, r.agent_id, COALESCE(i.ending, ''), COALESCE(i.changed_at, r.accepted_at)
    FROM closed c JOIN input i ON i.request = c.request JOIN requests r ON r.id = c.request
  ), taken AS (
    SELECT request FROM moved UNION ALL SELECT request FROM closed
  ), written AS (
    INSERT INTO frames (request, first, count, ends, lengths, text, checksum)
    SELECT f.* FROM unnest($9::bigint[], $10::integer[], $11::integer[], $12::integer[], $13::text[], $14::text[], $15::bigint[])
      AS f (request, first, count, ends, lengths, text, checksum)
    WHERE f.request IN (SELECT request FROM taken)
  )
  SELECT request FROM taken`;

const INSERT_FRAMES = `
  INSERT INTO frames (request, first, count, ends, lengths, text, checksum)
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::text[], $6::text[], $7::bigint[])`;

const PROGRESS = 'SELECT request, epoch, next FROM open_requests WHERE holder = $1 AND request = ANY($2::bigint[])';

const FRAMES = `
  WITH wanted AS (
    SELECT id FROM requests WHERE owner = $1 AND request_id = $2
  ), rows AS (
    ${SELECT_ANSWER} WHERE r.id = (SELECT id FROM wanted) AND r.answer IS NOT NULL
    UNION ALL
    SELECT first, count, ends, lengths, text, checksum FROM (
      SELECT f.*, SUM(octet_length(f.text)) OVER (ORDER BY f.first) - octet_length(f.text) AS before
      FROM frames f WHERE f.request = (SELECT id FROM wanted)
        AND f.first >= (SELECT COALESCE(MAX(p.first), 0) FROM frames p WHERE p.request = f.request AND p.first <= $3)
      ORDER BY f.first LIMIT $5
    ) AS measured WHERE before <= $4
  )
  SELECT first, count, ends, lengths, text, checksum FROM rows ORDER BY first`;

/** Selects the requests of `claimed`, oldest first. */
export const SELECT_CLAIMED = `${SELECT_REQUEST.replace('r.checksum', 'r.checksum, c.epoch')} JOIN claimed c ON c.request = r.id
  ORDER BY r.accepted_at, r.id`;
const LINES = 'SELECT 1 FROM agent_lines l JOIN nodes n ON n.id = l.node WHERE l.agent_id = r.agent_id';
/** A request that waits for an agent is left to the nodes to which the agent is connected: only they can answer it. */
const CLAIM = `
  WITH left_open AS (
    SELECT o.request FROM open_requests o JOIN requests r ON r.id = o.request
    WHERE o.holder IN (${GONE_NODES})
      AND (o.started <> 0 OR EXISTS (${LINES} AND n.id = $1) OR NOT EXISTS (${LINES} AND n.state = 'live'))
    ORDER BY r.accepted_at, r.id LIMIT $2 FOR UPDATE OF o SKIP LOCKED
  ), claimed AS (
    UPDATE open_requests o SET holder = $1, epoch = o.epoch + 1 FROM left_open l WHERE o.request = l.request
    RETURNING o.request, o.epoch
  )
  ${SELECT_CLAIMED}`;

const NOTE_OPEN = `
  INSERT INTO late_requests (request, open_at)
  SELECT o.request, $1 FROM open_requests o JOIN requests r ON r.id = o.request WHERE r.accepted_at < $2
  ON CONFLICT (request) DO UPDATE SET open_at = excluded.open_at`;

const WINDOW = 'SELECT id, accepted_at AS "acceptedAt" FROM requests WHERE id > $1 ORDER BY id LIMIT $2';
const OLD = `
  SELECT r.id FROM requests r
  WHERE r.id > $1 AND r.id <= $2 AND r.accepted_at < $3
    AND NOT EXISTS (SELECT 1 FROM open_requests o WHERE o.request = r.id)
    AND NOT EXISTS (SELECT 1 FROM late_requests l WHERE l.request = r.id AND l.open_at >= $3)`;
const PURGE_WINDOW = 200;
const FIRST_EPOCH = 1;
/** Bytes to read beyond the limit, because the first row may begin long before the first requested frame. */
const ROOM = 131_072;
