import {
  ANONYMOUS,
  ANONYMOUS_KINDS,
  type AnonymousKind,
  type AnonymousRange,
  AnonymousRoom,
  type AnonymousStore,
  RECORD_BYTES,
} from '../anonymous.ts';
import { bigints } from './arrays.ts';
import type { PostgresDatabase } from './database.ts';
import { deleteRequests } from './removals.ts';

export function anonymousStore(database: PostgresDatabase): AnonymousStore {
  return {
    sweep: async ({ keepBytes, before }: AnonymousRange) => {
      let used = 0;
      for (const { kind, share } of ANONYMOUS_KINDS) {
        const space = new AnonymousRoom({ room: Math.max(0, keepBytes - used) * share, before });
        await sweepKind(database, kind, space);
        used += space.used;
      }
      return used;
    },
  };
}

/** Goes from the newest record to the oldest, one window at a time. */
async function sweepKind(database: PostgresDatabase, kind: AnonymousKind, space: AnonymousRoom): Promise<void> {
  const { page, number } = KINDS[kind];
  let from = { at: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };
  for (;;) {
    const rows = await database.read.all<Row>(page, from.at, from.number, WINDOW);
    const gone = rows.filter((row) => !space.keeps(row)).map((row) => row.number);
    if (gone.length > 0) {
      await database.write((queries) =>
        kind === 'requests'
          ? deleteRequests(queries, gone)
          : queries.run(`DELETE FROM ${KINDS[kind].table} WHERE ${number} = ANY($1::bigint[])`, bigints(gone)),
      );
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < WINDOW) return;
    from = { at: last.at, number: last.number };
  }
}

interface Row {
  readonly at: number;
  readonly number: number;
  readonly bytes: number;
  readonly isOpen: boolean;
}

function kindOf(table: string, number: string, at: string, bytes: string, isOpen: string) {
  const page = `
    SELECT t.${number} AS number, t.${at} AS at, ${RECORD_BYTES} + ${bytes} AS bytes, (${isOpen}) AS "isOpen"
    FROM ${table} t
    WHERE t.owner >= '${ANONYMOUS}' AND t.owner < '${ANONYMOUS.trimEnd()}!' AND (t.${at}, t.${number}) < ($1::bigint, $2::bigint)
    ORDER BY t.${at} DESC, t.${number} DESC LIMIT $3`;
  return { table, number, page };
}

const KINDS: Record<AnonymousKind, ReturnType<typeof kindOf>> = {
  disabledUrls: kindOf('disabled_urls', 'number', 'at', 'octet_length(t.owner) + octet_length(t.url)', 'false'),
  deliveries: kindOf(
    'deliveries',
    'number',
    'created_at',
    'octet_length(t.owner) + octet_length(t.url) + octet_length(t.body) + octet_length(t.failures)',
    "t.state = 'due'",
  ),
  requests: kindOf(
    'requests',
    'id',
    'accepted_at',
    `2 * octet_length(t.owner) + octet_length(t.envelope) + COALESCE(octet_length(t.arrival), 0)
      + COALESCE(octet_length(t.answer), 0)
      + (SELECT COALESCE(SUM(octet_length(f.text)), 0) FROM frames f WHERE f.request = t.id)`,
    // A request with an open letter counts as open: after a restart, the letter is settled from its answer.
    `EXISTS (SELECT 1 FROM open_requests o WHERE o.request = t.id)
      OR EXISTS (SELECT 1 FROM letters l WHERE l.owner = t.owner AND l.request_id = t.request_id)`,
  ),
};

const WINDOW = 200;
