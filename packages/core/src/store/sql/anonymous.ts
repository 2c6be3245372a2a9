import { ANONYMOUS, type AnonymousKind, AnonymousRoom, RECORD_BYTES } from '../anonymous.ts';
import type { Database } from '../sqlite-engine.ts';

/** The place of a record. Records are looked at from the newest to the oldest. */
export interface AnonymousCursor {
  readonly at: number;
  readonly number: number;
}

export interface AnonymousWindow {
  readonly used: number;
  readonly room: number;
  /** Null after the last window. */
  readonly next: AnonymousCursor | null;
}

export function anonymousRemovals(database: Database) {
  const statements = Object.fromEntries(
    Object.entries(KINDS).map(([kind, { table, index, number, at, bytes, isOpen }]) => [
      kind,
      {
        page: database.prepare(`
          SELECT t.${number} AS number, t.${at} AS at, ${RECORD_BYTES} + ${bytes} AS bytes, ${isOpen} AS "isOpen"
          FROM ${table} t INDEXED BY ${index}
          WHERE ${isAnonymous('t.owner')} AND (t.${at}, t.${number}) < (?, ?)
          ORDER BY t.${at} DESC, t.${number} DESC LIMIT ?`),
        remove: database.prepare(`DELETE FROM ${table} WHERE ${number} = ?`),
      },
    ]),
  );

  return {
    /** Sweeps one window of records per call, so that other calls get their turn in between. */
    sweepAnonymous(
      kind: AnonymousKind,
      range: { readonly room: number; readonly before: number },
      { at, number }: AnonymousCursor,
    ): AnonymousWindow {
      const { page, remove } = statements[kind] as { page: Statement; remove: Statement };
      const space = new AnonymousRoom(range);
      const rows = page.all(at, number, WINDOW) as Row[];
      for (const row of rows) if (!space.keeps({ ...row, isOpen: row.isOpen === 1 })) remove.run(row.number);
      const last = rows.length < WINDOW ? undefined : rows.at(-1);
      const next = last === undefined ? null : { at: last.at, number: last.number };
      return { used: space.used, room: space.room, next };
    },
  };
}

type Statement = ReturnType<Database['prepare']>;

interface Row extends AnonymousCursor {
  readonly bytes: number;
  readonly isOpen: 0 | 1;
}

/** Repeats the condition of the indexes, or SQLite would not use them. In ASCII "!" comes after the blank. */
function isAnonymous(column: string): string {
  return `${column} >= '${ANONYMOUS}' AND ${column} < '${ANONYMOUS.trimEnd()}!'`;
}

const KINDS: Record<AnonymousKind, Record<'table' | 'index' | 'number' | 'at' | 'bytes' | 'isOpen', string>> = {
  disabledUrls: {
    table: 'disabled_urls',
    index: 'anonymous_urls',
    number: 'rowid',
    at: 'at',
    bytes: 'octet_length(t.owner) + octet_length(t.url)',
    isOpen: '0',
  },
  deliveries: {
    table: 'deliveries',
    index: 'anonymous_deliveries',
    number: 'number',
    at: 'created_at',
    bytes: 'octet_length(t.owner) + octet_length(t.url) + octet_length(t.body) + octet_length(t.failures)',
    isOpen: "t.state = 'due'",
  },
  requests: {
    table: 'requests',
    index: 'anonymous_requests',
    number: 'id',
    at: 'accepted_at',
    bytes: `2 * octet_length(t.owner) + octet_length(t.envelope) + COALESCE(octet_length(t.arrival), 0)
      + COALESCE(octet_length(t.answer), 0)
      + (SELECT COALESCE(SUM(octet_length(f.text)), 0) FROM frames f WHERE f.request = t.id)`,
    // A letter needs its request after a restart, to send the answer to the callback.
    isOpen: `EXISTS (SELECT 1 FROM open_requests o WHERE o.request = t.id)
      OR EXISTS (SELECT 1 FROM letters l WHERE l.owner = t.owner AND l.request_id = t.request_id)`,
  },
};

/** Partial indexes: writes for senders with a key do not maintain them. */
export const ANONYMOUS_INDEXES = `
  CREATE INDEX anonymous_urls ON disabled_urls (at) WHERE owner >= 'anonymous ' AND owner < 'anonymous!';
  CREATE INDEX anonymous_deliveries ON deliveries (created_at) WHERE owner >= 'anonymous ' AND owner < 'anonymous!';
  CREATE INDEX anonymous_requests ON requests (accepted_at) WHERE owner >= 'anonymous ' AND owner < 'anonymous!'
  `;

const WINDOW = 200;
