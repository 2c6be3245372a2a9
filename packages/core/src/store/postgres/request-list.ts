import type { AnswerEnd } from '@dragoman/protocols';
import type { ListedRequest, RequestList, RequestQuery } from '../request-list.ts';
import { containing, LOOKED_INTO, SCANNED } from '../sql/request-list.ts';
import { bigints } from './arrays.ts';
import type { Queries } from './database.ts';

/**
 * Lists open and ended requests together. Open requests are few, so that all of them are read. Ended requests are
 * indexed in groups (owner, agent, ending), each in the order of the list.
 */
export async function listRequests(read: Queries, query: RequestQuery): Promise<RequestList> {
  const { owner = null, agentId = null, sessionId = null, progress, changedSince = 0, protocol, text } = query;
  const isLooking = protocol !== undefined || text !== undefined;
  const limit = isLooking ? LOOKED_INTO : query.limit;
  const after = await placeOf(read, query.after);
  const openOnes = await read.all<Placed>(OPEN, owner, agentId, sessionId);
  const found = openOnes.filter(
    (one) =>
      one.changedAt >= changedSince && (progress === undefined || progress.some((name) => name === one.progress)),
  );
  const candidates = query.owner === undefined ? ofAll : ofOwner;
  const { ended, total, horizon } = await candidates(read, query, { after, limit });
  const page = [...found, ...ended]
    .filter((one) => order(after, one) < 0 && (horizon === undefined || order(one, horizon) <= 0))
    .sort(order)
    .slice(0, limit);
  const rest = page.length === limit ? page.at(-1) : horizon;
  const wanted = rest === undefined || rest === page.at(-1) ? page : [...page, rest];
  const listed = await read.all<Listed & { number: number; isFound: boolean }>(
    LISTED,
    bigints(wanted.map(({ number }) => number)),
    containing(text ?? ''),
  );
  const byNumber = new Map(listed.map(({ number, ...row }) => [number, row]));
  const looked = page.flatMap(({ number, ...one }) => {
    const row = byNumber.get(number);
    return row === undefined ? [] : [{ ...row, ...one }];
  });
  const last = rest && byNumber.get(rest.number);
  const lookedUpTo = last && { owner: last.owner, requestId: last.requestId, changedAt: rest.changedAt };
  if (!isLooking) {
    const all = total === undefined ? undefined : total + found.length;
    return { rows: looked.map(withoutFound), total: all, ...(page.length < limit && { lookedUpTo }) };
  }
  const rows: ListedRequest[] = [];
  for (const one of looked) {
    if (one.isFound && one.protocol === (protocol ?? one.protocol)) rows.push(withoutFound(one));
    if (rows.length === query.limit) return { rows, lookedUpTo: rows.at(-1) };
  }
  return { rows, lookedUpTo };
}

/** Finds the ended requests of one caller, group by group, and counts them. */
async function ofOwner(read: Queries, query: RequestQuery, { after, limit }: Range): Promise<Candidates> {
  const { sessionId = null, changedSince = 0 } = query;
  const ended: Placed[] = [];
  let total = 0;
  for await (const group of groups(read, query)) {
    const conditions = [group.owner, group.agentId, group.ending, changedSince, sessionId];
    total += (await read.get<{ total: number }>(COUNT, ...conditions))?.total ?? 0;
    const rows = await read.all<Place>(PAGE, ...conditions, after.changedAt, after.number, limit);
    for (const row of rows) ended.push({ ...row, progress: endOf(group.ending) });
  }
  return { ended, total };
}

/** Finds the ended requests of all callers by time. It skips a limited number of other requests, and does not count. */
async function ofAll(read: Queries, query: RequestQuery, { after, limit }: Range): Promise<Candidates> {
  const { agentId = null, sessionId = null, progress = null, changedSince = 0 } = query;
  const range = [after.changedAt, after.number, changedSince];
  const rows = await read.all<Place & { ending: string }>(BY_TIME, ...range, agentId, progress, sessionId, limit);
  const ended = rows.map(({ ending, ...place }): Placed => ({ ...place, progress: endOf(ending) }));
  const horizon = ended.length === limit ? ended.at(-1) : await read.get<Place>(SCANNED_UP_TO, ...range);
  return { ended, ...(horizon && { horizon }) };
}

function endOf(ending: string): AnswerEnd | null {
  return ending === '' ? null : (ending as AnswerEnd);
}

function withoutFound({ isFound: _, ...row }: ListedRequest & { readonly isFound: boolean }): ListedRequest {
  return row;
}

async function placeOf(read: Queries, after: RequestQuery['after']): Promise<Place> {
  if (after === undefined) return FIRST;
  const row = await read.get<{ id: number }>(
    'SELECT id FROM requests WHERE owner = $1 AND request_id = $2',
    after.owner,
    after.requestId,
  );
  return { changedAt: after.changedAt, number: row?.id ?? 0 };
}

async function* groups(read: Queries, { owner, agentId, progress }: RequestQuery): AsyncGenerator<Group> {
  const isWanted = (one: Group) =>
    (agentId === undefined || one.agentId === agentId) &&
    (progress === undefined || progress.some((name) => name === one.ending));
  const first = owner === undefined ? ['', ''] : [owner, agentId ?? ''];
  let next = await read.get<Group>(NEXT_GROUP, ...first, '', -1);
  while (next !== undefined && (owner === undefined || next.owner === owner)) {
    if (owner !== undefined && agentId !== undefined && next.agentId !== agentId) return;
    if (isWanted(next)) yield next;
    next = await read.get<Group>(NEXT_GROUP, next.owner, next.agentId, next.ending, FIRST.changedAt);
  }
}

interface Range {
  readonly after: Place;
  readonly limit: number;
}

/** Requests that have ended, complete up to the horizon, if there is one. */
interface Candidates {
  readonly ended: readonly Placed[];
  readonly total?: number;
  readonly horizon?: Place;
}

interface Group {
  readonly owner: string;
  readonly agentId: string;
  readonly ending: string;
}

interface Place {
  readonly changedAt: number;
  readonly number: number;
}

type Placed = Place & Pick<ListedRequest, 'progress'>;
type Listed = Omit<ListedRequest, keyof Placed>;

/** Newest first. */
function order(a: Place, b: Place): number {
  return b.changedAt - a.changedAt || b.number - a.number;
}

const FIRST: Place = { changedAt: Number.MAX_SAFE_INTEGER, number: 0 };

const NEXT_GROUP = `
  SELECT owner, agent_id AS "agentId", ending FROM ended_requests
  WHERE (owner, agent_id, ending, ended_at) > ($1, $2, $3, $4::bigint) ORDER BY owner, agent_id, ending, ended_at LIMIT 1`;
const OF_GROUP = `
  FROM ended_requests e WHERE e.owner = $1 AND e.agent_id = $2 AND e.ending = $3 AND e.ended_at >= $4
    AND ($5::text IS NULL OR EXISTS (SELECT 1 FROM requests r WHERE r.id = e.request AND r.session_id = $5))`;
const SCAN = `
  SELECT e.request, e.ended_at, e.agent_id, e.ending FROM ended_requests e
  WHERE (e.ended_at, e.request) < ($1::bigint, $2::bigint) AND e.ended_at >= $3
  ORDER BY e.ended_at DESC, e.request DESC`;
const BY_TIME = `
  SELECT s.request AS number, s.ended_at AS "changedAt", s.ending FROM (${SCAN} LIMIT ${SCANNED}) s
  WHERE ($4::text IS NULL OR s.agent_id = $4) AND ($5::text[] IS NULL OR s.ending = ANY($5))
    AND ($6::text IS NULL OR EXISTS (SELECT 1 FROM requests r WHERE r.id = s.request AND r.session_id = $6))
  ORDER BY s.ended_at DESC, s.request DESC LIMIT $7`;
const SCANNED_UP_TO = `
  SELECT s.request AS number, s.ended_at AS "changedAt" FROM (${SCAN} OFFSET ${SCANNED - 1} LIMIT 1) s`;
const COUNT = `SELECT count(*) AS total ${OF_GROUP}`;
const PAGE = `
  SELECT e.request AS number, e.ended_at AS "changedAt" ${OF_GROUP}
    AND (e.ended_at, e.request) < ($6::bigint, $7::bigint) ORDER BY e.ended_at DESC, e.request DESC LIMIT $8`;
const OPEN = `
  SELECT o.request AS number, COALESCE(o.answering_since, r.accepted_at) AS "changedAt",
    CASE WHEN o.answering_since IS NOT NULL THEN 'answering' WHEN o.started = 1 THEN 'started' ELSE 'accepted' END AS progress
  FROM open_requests o JOIN requests r ON r.id = o.request
  WHERE ($1::text IS NULL OR r.owner = $1) AND ($2::text IS NULL OR r.agent_id = $2) AND ($3::text IS NULL OR r.session_id = $3)`;
const LISTED = `
  SELECT id AS number, owner, request_id AS "requestId", agent_id AS "agentId", session_id AS "sessionId", accepted_at AS "acceptedAt",
    envelope ILIKE $2 AS "isFound",
    COALESCE(CASE WHEN envelope IS JSON OBJECT THEN envelope::json #>> '{provenance,source_protocol}' END, 'e2a') AS protocol
  FROM requests WHERE id = ANY($1::bigint[])`;
