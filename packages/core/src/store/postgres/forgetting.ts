import type { ForgettingStore, Removed } from '../forgetting.ts';
import type { PostgresDatabase, Queries } from './database.ts';
import { deleteExecutions, deleteRequests } from './removals.ts';

/** Rows are deleted. Their bytes stay until PostgreSQL's vacuum, and in its archives and standbys for as long as those are kept. */
export function forgettingStore(database: PostgresDatabase): ForgettingStore {
  return {
    request: ({ owner, requestId }) =>
      database.write(async (queries) => {
        if ((await queries.get(OWED, owner, requestId)) !== undefined) return 'under_way';
        const found = await queries.get<Found & { sessionId: string | null }>(FIND_REQUEST, owner, requestId);
        const outcome = await removed(found, (id) => deleteRequests(queries, [id]));
        if (outcome === 'under_way') return outcome;
        // A thread keeps its messages longer than requests are kept, and may have forgotten the question before the answer.
        const rows = await queries.all<{ threadId: string }>(THREADS_WITH, owner, requestId);
        const threads = new Set(rows.map(({ threadId }) => threadId));
        if (found?.sessionId != null) threads.add(found.sessionId);
        let changes = await queries.run(
          'DELETE FROM deliveries WHERE owner = $1 AND request_id = $2',
          owner,
          requestId,
        );
        for (const threadId of threads) changes += await forgetInThread(queries, owner, threadId, requestId);
        return changes > 0 ? 'removed' : outcome;
      }),

    execution: ({ owner, executionId }) =>
      database.write(async (queries) => {
        const found = await queries.get<Found>(FIND_EXECUTION, owner, executionId);
        return removed(found, (id) => deleteExecutions(queries, [id]));
      }),

    caller: async (owner) => {
      let [requests, executions] = [0, 0];
      for (;;) {
        const window = await database.write(async (queries) => {
          const ended = await queries.all<Found>(ENDED_REQUESTS, owner, WINDOW);
          const over = await queries.all<Found>(ENDED_EXECUTIONS, owner, WINDOW);
          return {
            requests: await deleteRequests(
              queries,
              ended.map(({ id }) => id),
            ),
            executions: await deleteExecutions(
              queries,
              over.map(({ id }) => id),
            ),
          };
        });
        if (window.requests + window.executions === 0) break;
        requests += window.requests;
        executions += window.executions;
      }
      const rest = await database.write((queries) => forgetRest(queries, owner));
      return { requests, executions, ...rest };
    },
  };
}

async function forgetRest(queries: Queries, owner: string) {
  const files = await queries.all<{ file: string }>(FILES, owner);
  await queries.run('UPDATE requests SET session_id = NULL WHERE owner = $1 AND session_id IS NOT NULL', owner);
  const all = (table: string) => queries.run(`DELETE FROM ${table} WHERE owner = $1`, owner);
  const sessions = await all('sessions');
  const storedKeys = await all('stored_data');
  const threadMessages = await all('thread_messages');
  const memories = await all('memory_entries');
  for (const table of ['thread_counts', 'memories', 'disabled_urls']) await all(table);
  const callbacks = await queries.run('DELETE FROM deliveries WHERE owner = $1 AND ended_at IS NOT NULL', owner);
  const { count } = (await queries.get<{ count: number }>(UNDER_WAY, owner)) ?? { count: 0 };
  const kept = files.map(({ file }) => file);
  return { sessions, storedKeys, threadMessages, callbacks, memories, underWay: count, files: kept };
}

async function removed(found: Found | undefined, remove: (id: number) => Promise<unknown>): Promise<Removed> {
  if (found === undefined) return 'absent';
  if (found.open !== null) return 'under_way';
  await remove(found.id);
  return 'removed';
}

/** Deletes the question, and the answers that name it in `replyTo`. Text that is not JSON is not an answer. */
async function forgetInThread(queries: Queries, owner: string, threadId: string, requestId: string): Promise<number> {
  const answers = await queries.all<{ sequence: number; text: string }>(ANSWERS, owner, threadId);
  const named = answers.filter(({ text }) => replyToOf(text) === requestId).map(({ sequence }) => sequence);
  let changes = await queries.run(REMOVE_QUESTION, owner, threadId, requestId);
  for (const sequence of named) changes += await queries.run(REMOVE_MESSAGE, owner, threadId, sequence);
  return changes;
}

function replyToOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { replyTo?: unknown } | null)?.replyTo;
  } catch {
    return undefined;
  }
}

interface Found {
  readonly id: number;
  readonly open: number | null;
}

const OWED = `
  SELECT 1 FROM letters WHERE owner = $1 AND request_id = $2
  UNION ALL SELECT 1 FROM deliveries WHERE owner = $1 AND request_id = $2 AND state = 'due' LIMIT 1`;
const FIND_REQUEST = `
  SELECT r.id, r.session_id AS "sessionId", o.request AS open FROM requests r LEFT JOIN open_requests o ON o.request = r.id
  WHERE r.owner = $1 AND r.request_id = $2 FOR UPDATE OF r`;
const FIND_EXECUTION = `
  SELECT x.id, o.execution AS open FROM executions x LEFT JOIN open_executions o ON o.execution = x.id
  WHERE x.owner = $1 AND x.execution_id = $2 FOR UPDATE OF x`;
const THREADS_WITH = `
  SELECT DISTINCT thread_id AS "threadId" FROM thread_messages WHERE owner = $1 AND message_id = $2`;
const ANSWERS = 'SELECT sequence, text FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND is_answer = 1';
const REMOVE_QUESTION = `
  DELETE FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND message_id = $3 AND is_answer = 0`;
const REMOVE_MESSAGE = 'DELETE FROM thread_messages WHERE owner = $1 AND thread_id = $2 AND sequence = $3';
const ENDED_REQUESTS = `
  SELECT r.id FROM requests r WHERE r.owner = $1 AND NOT EXISTS (SELECT 1 FROM open_requests o WHERE o.request = r.id) LIMIT $2`;
const ENDED_EXECUTIONS = `
  SELECT x.id FROM executions x WHERE x.owner = $1 AND NOT EXISTS (SELECT 1 FROM open_executions o WHERE o.execution = x.id) LIMIT $2`;
const FILES = 'SELECT file FROM stored_data WHERE owner = $1 AND file IS NOT NULL ORDER BY file';
const UNDER_WAY = `
  SELECT (SELECT count(*) FROM requests WHERE owner = $1) + (SELECT count(*) FROM executions WHERE owner = $1)
    + (SELECT count(*) FROM deliveries WHERE owner = $1) AS count`;
const WINDOW = 200;
