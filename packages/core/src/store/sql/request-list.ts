import type { AnswerEnd } from '@dragoman/protocols';
import type { ListedRequest, RequestList, RequestPlace, RequestQuery } from '../request-list.ts';
import type { Database } from '../sqlite-engine.ts';

/**
 * One row for each ended request, indexed in the order of lists. Open requests have no index, because they are few.
 * Requests that ended before this table existed have the time at which they were accepted.
 */
export const ENDED_REQUEST_TABLES = `
  CREATE TABLE ended_requests (
    request INTEGER PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    ending TEXT NOT NULL,
    ended_at BIGINT NOT NULL
  );
  CREATE INDEX ended_requests_by_end ON ended_requests (owner, agent_id, ending, ended_at, request);
  INSERT INTO ended_requests (request, owner, agent_id, ending, ended_at)
    SELECT id, owner, agent_id, '', accepted_at FROM requests r
    WHERE NOT EXISTS (SELECT 1 FROM open_requests o WHERE o.request = r.id);
  ALTER TABLE open_requests ADD COLUMN answering_since BIGINT
  `;

/** For the list of all owners' requests, where reading by groups would be slow: there may be many owners. */
export const ENDED_BY_TIME_INDEX = `
  CREATE INDEX ended_requests_by_time ON ended_requests (ended_at, request, agent_id, ending)`;

export function requestListReads(database: Database) {
  // A time after all rows skips the rest of a group.
  const nextGroup = database.prepare(`
    SELECT owner, agent_id AS "agentId", ending FROM ended_requests
    WHERE (owner, agent_id, ending, ended_at) > (?, ?, ?, ?) ORDER BY owner, agent_id, ending, ended_at LIMIT 1`);
  const ended = database.prepare(`${PLACE} ${OF_GROUP} ${PAGE}`);
  const endedInSession = database.prepare(`${PLACE} ${OF_SESSION} ${PAGE}`);
  const count = database.prepare(`SELECT count(*) AS total ${OF_GROUP}`);
  const countInSession = database.prepare(`SELECT count(*) AS total ${OF_SESSION}`);
  const open = database.prepare(`
    SELECT o.request AS number, COALESCE(o.answering_since, r.accepted_at) AS "changedAt", ${OPEN_PROGRESS} AS progress
    FROM open_requests o CROSS JOIN requests r ON r.id = o.request
    WHERE r.owner = COALESCE(?, r.owner) AND r.agent_id = COALESCE(?, r.agent_id) AND r.session_id IS COALESCE(?, r.session_id)`);
  const listed = database.prepare(`
    SELECT owner, request_id AS "requestId", agent_id AS "agentId", session_id AS "sessionId", ${PROTOCOL} AS protocol,
      accepted_at AS "acceptedAt"
    FROM requests WHERE id = ?`);
  const byTime = database.prepare(`
    SELECT request AS number, ended_at AS "changedAt", agent_id AS "agentId", ending FROM ended_requests
    WHERE (ended_at, request) < (?, ?) AND ended_at >= ? ORDER BY ended_at DESC, request DESC LIMIT ${SCANNED}`);
  const sessionOf = database.prepare('SELECT session_id AS "sessionId" FROM requests WHERE id = ?');
  const contains = database.prepare(`
    SELECT length(envelope) AS size, ${PROTOCOL} = COALESCE(?, ${PROTOCOL}) AND envelope LIKE ? ESCAPE '\\' AS "isFound"
    FROM requests WHERE id = ?`);
  const numberOf = database.prepare('SELECT id FROM requests WHERE owner = ? AND request_id = ?');

  function placeOf(after: RequestQuery['after']): Place {
    if (after === undefined) return FIRST;
    const row = numberOf.get(after.owner, after.requestId) as { id: number } | undefined;
    return { changedAt: after.changedAt, number: row?.id ?? 0 };
  }

  /**
   * The groups of the index by owner, agent and ending. Within a group, rows are in the order of a list. One step into
   * the index finds the next group.
   */
  function* groups({ owner, agentId, progress }: RequestQuery): Generator<Group> {
    const isWanted = (one: Group) =>
      (agentId === undefined || one.agentId === agentId) &&
      (progress === undefined || progress.some((name) => name === one.ending));
    const first = owner === undefined ? ['', ''] : [owner, agentId ?? ''];
    let next = nextGroup.get(...first, '', -1) as Group | undefined;
    while (next !== undefined && (owner === undefined || next.owner === owner)) {
      if (owner !== undefined && agentId !== undefined && next.agentId !== agentId) return;
      if (isWanted(next)) yield next;
      next = nextGroup.get(next.owner, next.agentId, next.ending, FIRST.changedAt) as Group | undefined;
    }
  }

  /** The ended requests of one owner, read by groups and counted. */
  function ofOwner(query: RequestQuery, { after, limit }: Range): Candidates {
    const { sessionId, changedSince = 0 } = query;
    const [counting, reading] = sessionId === undefined ? [count, ended] : [countInSession, endedInSession];
    const session = sessionId === undefined ? [] : [sessionId];
    const found: Placed[] = [];
    let total = 0;
    for (const { owner, agentId, ending } of groups(query)) {
      const conditions = [...session, owner, agentId, ending, changedSince];
      total += (counting.get(...conditions) as { total: number }).total;
      const rows = reading.all(...conditions, after.changedAt, after.number, limit) as Place[];
      for (const row of rows) found.push({ ...row, progress: endOf(ending) });
    }
    return { found, total };
  }

  /** The ended requests of all owners, read by time and not counted. It skips only a limited number of others. */
  function ofAll(
    { agentId, sessionId, progress, changedSince = 0 }: RequestQuery,
    { after, limit }: Range,
  ): Candidates {
    const found: Placed[] = [];
    let scanned = 0;
    for (const one of byTime.iterate(after.changedAt, after.number, changedSince) as Iterable<Place & Group>) {
      scanned += 1;
      const { number, changedAt, ending } = one;
      const isWanted =
        (agentId === undefined || one.agentId === agentId) &&
        (progress === undefined || progress.some((name) => name === ending)) &&
        (sessionId === undefined || (sessionOf.get(number) as Listed).sessionId === sessionId);
      if (isWanted) found.push({ number, changedAt, progress: endOf(ending) });
      if (found.length === limit || scanned === SCANNED) return { found, horizon: { number, changedAt } };
    }
    return { found };
  }

  return {
    listRequests(query: RequestQuery): RequestList {
      const { sessionId, progress, changedSince = 0, protocol, text } = query;
      const isLooking = protocol !== undefined || text !== undefined;
      const limit = isLooking ? LOOKED_INTO : query.limit;
      const after = placeOf(query.after);
      const openOnes = (open.all(query.owner ?? null, query.agentId ?? null, sessionId ?? null) as Placed[]).filter(
        (one) =>
          one.changedAt >= changedSince && (progress === undefined || progress.some((name) => name === one.progress)),
      );
      const { found, total, horizon } = (query.owner === undefined ? ofAll : ofOwner)(query, { after, limit });
      const page = [...openOnes, ...found]
        .filter((one) => order(after, one) < 0 && (horizon === undefined || order(one, horizon) <= 0))
        .sort(order)
        .slice(0, limit);
      const row = ({ number, ...one }: Placed): ListedRequest => ({ ...(listed.get(number) as Listed), ...one });
      const rest = page.length === limit ? page.at(-1) : horizon;
      const lookedUpTo = rest && placed(rest);
      if (!isLooking) {
        const all = total === undefined ? undefined : total + openOnes.length;
        return { rows: page.map(row), total: all, ...(page.length < limit && { lookedUpTo }) };
      }
      const pattern = containing(text ?? '');
      const rows: ListedRequest[] = [];
      let size = 0;
      for (const one of page) {
        const look = contains.get(protocol ?? null, pattern, one.number) as { size: number; isFound: number };
        if (look.isFound === 1) rows.push(row(one));
        size += look.size;
        if (rows.length === query.limit || size > MOST_SEARCHED) return { rows, lookedUpTo: placed(one) };
      }
      return { rows, lookedUpTo };
    },
  };

  function placed({ number, changedAt }: Place): RequestPlace {
    const { owner, requestId } = listed.get(number) as Listed;
    return { owner, requestId, changedAt };
  }
}

interface Range {
  readonly after: Place;
  readonly limit: number;
}

/** Ended requests that match a query. */
interface Candidates {
  readonly found: readonly Placed[];
  /** How many there are on all pages. Absent where they are not counted. */
  readonly total?: number;
  /** The place up to which `found` is complete; absent when all were looked at. */
  readonly horizon?: Place;
}

function endOf(ending: string): AnswerEnd | null {
  return ending === '' ? null : (ending as AnswerEnd);
}

interface Group {
  readonly owner: string;
  readonly agentId: string;
  /** An `AnswerEnd`; empty where the end was not recorded. */
  readonly ending: string;
}

/** `number` is that of the request. Requests are numbered in the order in which they were recorded. */
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

/** The LIKE pattern for envelopes that contain a text. Envelopes are JSON, so the text is escaped as JSON first. */
export function containing(text: string): string {
  const written = JSON.stringify(text).slice(1, -1);
  return `%${written.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** How many envelopes one query searches. Takes a few milliseconds. */
export const LOOKED_INTO = 500;

/** How many characters of envelopes one query searches, where they are long. */
const MOST_SEARCHED = 2_000_000;

/** How many index entries one query looks at. Takes a few milliseconds. */
export const SCANNED = 5000;

const FIRST: Place = { changedAt: Number.MAX_SAFE_INTEGER, number: 0 };

const PLACE = 'SELECT e.request AS number, e.ended_at AS "changedAt"';
const OF_GROUP = 'FROM ended_requests e WHERE e.owner = ? AND e.agent_id = ? AND e.ending = ? AND e.ended_at >= ?';
/** Begins with the requests of the session, which are fewer than all of the agent. */
const OF_SESSION = `
  FROM requests r CROSS JOIN ended_requests e ON e.request = r.id
  WHERE r.session_id = ? AND r.owner = ? AND r.agent_id = ? AND e.ending = ? AND e.ended_at >= ?`;
const PAGE = 'AND (e.ended_at, e.request) < (?, ?) ORDER BY e.ended_at DESC, e.request DESC LIMIT ?';
/** Recorded envelopes omit default values, and `e2a` is the default. */
const PROTOCOL = `
  COALESCE(CASE WHEN json_valid(envelope) THEN json_extract(envelope, '$.provenance.source_protocol') END, 'e2a')`;
const OPEN_PROGRESS = `
  CASE WHEN o.answering_since IS NOT NULL THEN 'answering' WHEN o.started = 1 THEN 'started' ELSE 'accepted' END`;
