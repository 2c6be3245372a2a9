import type { ExecutionKey } from '../executions.ts';
import type { ForgottenCounts, Removed } from '../forgetting.ts';
import type { Database } from '../sqlite-engine.ts';
import type { RequestKey } from '../store.ts';
import { prepareNoteEnd } from './threads.ts';

/** How many records of an owner one call deleted; both are 0 when no ended record is left. */
export interface ForgottenWindow {
  readonly requests: number;
  readonly executions: number;
}

export function forgettingRemovals(database: Database) {
  const findRequest = database.prepare(`
    SELECT r.id, r.session_id AS "sessionId", o.request AS open FROM requests r LEFT JOIN open_requests o ON o.request = r.id
    WHERE r.owner = ? AND r.request_id = ?`);
  const findExecution = database.prepare(`
    SELECT x.id, o.execution AS open FROM executions x LEFT JOIN open_executions o ON o.execution = x.id
    WHERE x.owner = ? AND x.execution_id = ?`);
  const removeRequest = database.prepare('DELETE FROM requests WHERE id = ?');
  const owed = database.prepare(`
    SELECT 1 FROM letters WHERE owner = ?1 AND request_id = ?2
    UNION ALL SELECT 1 FROM deliveries WHERE owner = ?1 AND request_id = ?2 AND state = 'due' LIMIT 1`);
  const threadsWith = database.prepare(
    'SELECT DISTINCT thread_id AS "threadId" FROM thread_messages WHERE owner = ? AND message_id = ?',
  );
  const removeFromThread = database.prepare(`
    DELETE FROM thread_messages WHERE owner = ?1 AND thread_id = ?2
      AND CASE is_answer WHEN 0 THEN message_id = ?3 ELSE json_valid(text) AND json_extract(text, '$.replyTo') = ?3 END`);
  const noteEnd = prepareNoteEnd(database);
  const removeCallbacks = database.prepare('DELETE FROM deliveries WHERE owner = ? AND request_id = ?');
  const removeExecution = database.prepare('DELETE FROM executions WHERE id = ?');
  const endedRequests = database.prepare(`
    DELETE FROM requests WHERE id IN (
      SELECT r.id FROM requests r LEFT JOIN open_requests o ON o.request = r.id
      WHERE r.owner = ? AND o.request IS NULL LIMIT ?)`);
  const endedExecutions = database.prepare(`
    DELETE FROM executions WHERE id IN (
      SELECT x.id FROM executions x LEFT JOIN open_executions o ON o.execution = x.id
      WHERE x.owner = ? AND o.execution IS NULL LIMIT ?)`);
  const leaveSessions = database.prepare('UPDATE requests SET session_id = NULL WHERE owner = ?');
  const files = database.prepare('SELECT file FROM stored_data WHERE owner = ? AND file IS NOT NULL ORDER BY file');
  const of = Object.fromEntries(
    TABLES.map((table) => [table, database.prepare(`DELETE FROM ${table} WHERE owner = ?`)]),
  );
  const endedCallbacks = database.prepare('DELETE FROM deliveries WHERE owner = ? AND ended_at IS NOT NULL');
  const underWay = database.prepare(`
    SELECT (SELECT count(*) FROM requests WHERE owner = ?1) + (SELECT count(*) FROM executions WHERE owner = ?1)
      + (SELECT count(*) FROM deliveries WHERE owner = ?1) AS "count"`);

  /** Runs `remove` so that SQLite overwrites the freed space with zeros, even if that takes extra writes. */
  const overwriting = <Result>(remove: () => Result): Result => {
    // Not a prepared statement, because SQLite executes this pragma when it compiles it.
    database.exec('PRAGMA secure_delete = ON');
    try {
      return remove();
    } finally {
      database.exec('PRAGMA secure_delete = FAST');
    }
  };
  const removed = (found: unknown, remove: (id: number) => void): Removed => {
    if (found === undefined) return 'absent';
    const { id, open } = found as { id: number; open: number | null };
    if (open !== null) return 'under_way';
    overwriting(() => remove(id));
    return 'removed';
  };
  const all = (table: string, owner: string): number => Number(of[table]?.run(owner).changes);

  return {
    forgetRequest({ owner, requestId }: RequestKey): Removed {
      if (owed.get(owner, requestId) !== undefined) return 'under_way';
      const found = findRequest.get(owner, requestId) as { sessionId: string | null } | undefined;
      const outcome = removed(found, (id) => removeRequest.run(id));
      if (outcome === 'under_way') return outcome;
      // Threads keep messages longer than requests are kept, and may have deleted the question but not the answer.
      const threads = new Set((threadsWith.all(owner, requestId) as { threadId: string }[]).map((row) => row.threadId));
      if (found?.sessionId != null) threads.add(found.sessionId);
      const hadMore = overwriting(() => {
        let changes = Number(removeCallbacks.run(owner, requestId).changes);
        for (const threadId of threads) {
          noteEnd(owner, threadId);
          changes += Number(removeFromThread.run(owner, threadId, requestId).changes);
        }
        return changes > 0;
      });
      return hadMore ? 'removed' : outcome;
    },

    forgetExecution: ({ owner, executionId }: ExecutionKey): Removed =>
      removed(findExecution.get(owner, executionId), (id) => removeExecution.run(id)),

    /** Deletes some records per call, so that other calls get their turn in between. */
    forgetEnded: (owner: string): ForgottenWindow =>
      overwriting(() => ({
        requests: Number(endedRequests.run(owner, WINDOW).changes),
        executions: Number(endedExecutions.run(owner, WINDOW).changes),
      })),

    forgetRest: (owner: string): Omit<ForgottenCounts, 'requests' | 'executions'> =>
      overwriting(() => {
        const kept = (files.all(owner) as { file: string }[]).map(({ file }) => file);
        leaveSessions.run(owner);
        const sessions = all('sessions', owner);
        const storedKeys = all('stored_data', owner);
        const threadMessages = all('thread_messages', owner);
        const memories = all('memory_entries', owner);
        all('thread_ends', owner);
        all('memories', owner);
        all('disabled_urls', owner);
        const callbacks = Number(endedCallbacks.run(owner).changes);
        const { count } = underWay.get(owner) as { count: number };
        return { sessions, storedKeys, threadMessages, callbacks, memories, underWay: count, files: kept };
      }),
  };
}

const TABLES = [
  ...['sessions', 'stored_data', 'thread_messages', 'thread_ends', 'disabled_urls'],
  ...['memories', 'memory_entries'],
];
const WINDOW = 200;
