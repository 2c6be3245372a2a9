import type { CopyColumn, CopyEnd, CopyQuery } from './copy-end.ts';

/** A table of the target, and how its rows are read from each kind of source. */
interface CopiedTable {
  readonly name: string;
  readonly family: string;
  readonly key: readonly string[];
  /** Set for a source whose table has another name or other columns. */
  readonly from?: Readonly<Partial<Record<CopyEnd['kind'], Source>>>;
}

interface Source {
  /** Expressions for columns that only the target has. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Replaces the table in the query. */
  readonly rows?: string;
  /** Whether values may be in files of the source, which are then copied into the row. */
  readonly hasFiles?: boolean;
}

/**
 * Every table to copy; a table comes after those that it refers to. Columns that both stores have are copied unchanged;
 * a column of only one store must be in `DERIVED`. An unknown table or column stops the copy, so that no data is lost
 * silently.
 */
const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'keys', family: 'keys', key: ['key_id'] },
  { name: 'agents', family: 'agents', key: ['agent_id'] },
  { name: 'vault_seal', family: 'vault', key: ['id'] },
  { name: 'credentials', family: 'vault', key: ['credential_id'] },
  { name: 'credential_receipts', family: 'vault', key: ['id'] },
  { name: 'apis', family: 'apis', key: ['api_id'] },
  { name: 'knowledge_bases', family: 'knowledge', key: ['base_id'] },
  { name: 'tool_pins', family: 'tools', key: ['name'] },
  { name: 'workflows', family: 'workflows', key: ['name', 'version'] },
  { name: 'registrations', family: 'registrations', key: ['agent_id'] },
  { name: 'counters', family: 'counters', key: ['principal', 'name', 'slice'] },
  { name: 'nonces', family: 'nonces', key: ['agent_id', 'nonce'] },
  { name: 'sessions', family: 'requests', key: ['id'] },
  { name: 'requests', family: 'requests', key: ['id'] },
  {
    name: 'open_requests',
    family: 'requests',
    key: ['request'],
    from: {
      sqlite: {
        columns: {
          next: 'COALESCE((SELECT MAX(f.first + f.count) FROM frames f WHERE f.request = open_requests.request), 0)',
        },
      },
    },
  },
  { name: 'frames', family: 'requests', key: ['request', 'first'] },
  { name: 'ended_requests', family: 'requests', key: ['request'] },
  { name: 'late_requests', family: 'requests', key: ['request'] },
  { name: 'push_configs', family: 'callbacks', key: ['name'] },
  { name: 'deliveries', family: 'callbacks', key: ['number'] },
  // Copied in the order of time, because PostgreSQL numbers the rows and purges the lowest numbers first.
  { name: 'disabled_urls', family: 'callbacks', key: ['at', 'owner', 'url'] },
  { name: 'signing_salts', family: 'callbacks', key: ['agent_id'] },
  { name: 'letters', family: 'threads', key: ['owner', 'request_id'] },
  { name: 'thread_messages', family: 'threads', key: ['owner', 'thread_id', 'sequence'] },
  {
    name: 'thread_counts',
    family: 'threads',
    key: ['owner', 'thread_id'],
    from: {
      // SQLite stores the last number only of threads whose messages were removed.
      sqlite: {
        rows: `(SELECT owner, thread_id, MAX(last) AS last, MAX(at) AS at FROM (
          SELECT owner, thread_id, last, at FROM thread_ends
          UNION ALL SELECT owner, thread_id, sequence, at FROM thread_messages) GROUP BY owner, thread_id)`,
      },
    },
  },
  {
    name: 'thread_ends',
    family: 'threads',
    key: ['owner', 'thread_id'],
    from: {
      postgres: {
        rows: `(SELECT owner, thread_id, last, at FROM thread_counts c WHERE NOT EXISTS (
          SELECT 1 FROM thread_messages m WHERE m.owner = c.owner AND m.thread_id = c.thread_id)) AS ended`,
      },
    },
  },
  { name: 'memories', family: 'memory', key: ['owner', 'memory_id'] },
  {
    name: 'memory_entries',
    family: 'memory',
    key: ['space', 'key'],
    from: { sqlite: { columns: { size: 'length(entry)' } } },
  },
  { name: 'executions', family: 'executions', key: ['id'] },
  { name: 'open_executions', family: 'executions', key: ['execution'] },
  { name: 'execution_ends', family: 'executions', key: ['execution'] },
  { name: 'execution_effects', family: 'executions', key: ['execution', 'position'] },
  { name: 'stored_data', family: 'stored data', key: ['owner', 'name'], from: { sqlite: { hasFiles: true } } },
];

/** Tables that are not copied: they belong to one store or one start of a server, or are copied in another form. */
const LEFT_OUT: Readonly<Record<CopyEnd['kind'], readonly string[]>> = {
  // The rows that `damages` lists are also marked themselves.
  sqlite: ['commits', 'damages', 'unfinished_copy', 'thread_ends'],
  postgres: [
    'nodes',
    'node_calls',
    'agent_lines',
    'lanes',
    'families',
    'schema_version',
    'unfinished_copy',
    'thread_counts',
  ],
};

/** Columns that only one store has, because the other can compute them. */
const DERIVED = ['holder', 'epoch', 'next', 'size', 'number'];

/** No running process holds the open runs of a copy: the first server that starts on it claims them. */
const UNHELD: Readonly<Record<string, string>> = { holder: '0', epoch: '0' };

/** One table of a copy: how to read the source, and how to read the target for the comparison. */
export interface TableCopy {
  readonly table: string;
  readonly family: string;
  readonly columns: readonly CopyColumn[];
  readonly from: CopyQuery;
  readonly to: CopyQuery;
}

/** The tables to copy, in this order. */
export async function tableCopies(source: CopyEnd, target: CopyEnd): Promise<TableCopy[]> {
  const [read, written] = [await source.tables(), await target.tables()];
  const copied = COPIED_TABLES.filter(({ name }) => written.includes(name));
  for (const [end, tables] of [
    [source, read],
    [target, written],
  ] as const) {
    const unknown = tables.filter(
      (name) => !LEFT_OUT[end.kind].includes(name) && !copied.some((one) => one.name === name),
    );
    if (unknown.length > 0) throw new Error(`no rule says how to copy ${unknown.join(', ')} of ${end.kind}`);
  }
  return Promise.all(
    copied.map(async ({ name, family, key, from }): Promise<TableCopy> => {
      const { columns: added = {}, rows = name, hasFiles = false } = from?.[source.kind] ?? {};
      const had = rows === name ? (await source.columns(name)).map((column) => column.name) : undefined;
      const columns = (await target.columns(name)).filter(
        (column) =>
          had === undefined ||
          had.includes(column.name) ||
          column.name in { ...added, ...UNHELD } ||
          !column.isOptional,
      );
      const lost = (had ?? []).filter(
        (column) => !DERIVED.includes(column) && !columns.some((one) => one.name === column),
      );
      if (lost.length > 0) throw new Error(`no rule says how to copy ${lost.join(', ')} of ${name}`);
      const expressions = columns.map((column) => ({
        name: column.name,
        expression: UNHELD[column.name] ?? added[column.name] ?? column.name,
      }));
      const plain = columns.map((column) => ({ name: column.name, expression: column.name }));
      return {
        table: name,
        family,
        columns,
        from: { table: name, columns: expressions, rows, key, hasFiles },
        to: { table: name, columns: plain, rows: name, key },
      };
    }),
  );
}
