import type { Log } from '../../ports/ports.ts';
import type { Damage } from '../damage.ts';
import { NEVER, requireReadableExecution, requireReadableRequest } from '../sql/damages.ts';
import { SELECT_EFFECT, type StoredEffect, type StoredExecution } from '../sql/executions.ts';
import type { FramesRow } from '../sql/frames.ts';
import type { StoredRequest } from '../sql/requests.ts';
import { isDamaged } from '../store-error.ts';
import { bigints } from './arrays.ts';
import type { Queries } from './database.ts';

/**
 * Returns the claimed requests that can be read. Damaged ones are ended in the same transaction, as SQLite does when it
 * starts, so that they do not keep the others from being continued. Every later read of a damaged request fails with
 * `store_damaged`.
 */
export async function readableRequests<Row extends StoredRequest>(
  queries: Queries,
  rows: readonly Row[],
  log: Log | undefined,
): Promise<Row[]> {
  const bad = await damagedAmong(rows, async (row) => {
    const frames = row.state === 'accepted' ? [] : await queries.all<FramesRow>(FRAMES, row.id);
    requireReadableRequest(row, frames);
  });
  await end(queries, bad, END_REQUESTS);
  for (const { owner, requestId } of bad) report(log, { kind: 'request', owner, name: requestId });
  return rows.filter((row) => !bad.has(row));
}

/** Does the same as `readableRequests` for executions. */
export async function readableExecutions<Row extends StoredExecution & { readonly id: number }>(
  queries: Queries,
  rows: readonly Row[],
  log: Log | undefined,
): Promise<Row[]> {
  const bad = await damagedAmong(rows, async (row) =>
    requireReadableExecution(row, await queries.all<StoredEffect>(EFFECTS, row.id)),
  );
  await end(queries, bad, END_EXECUTIONS);
  for (const { owner, executionId } of bad) report(log, { kind: 'execution', owner, name: executionId });
  return rows.filter((row) => !bad.has(row));
}

/** Reads one row after the other, because the frames or effects of a row may be large. */
async function damagedAmong<Row>(rows: readonly Row[], read: (row: Row) => Promise<void>): Promise<Set<Row>> {
  const bad = new Set<Row>();
  for (const row of rows) {
    try {
      await read(row);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      bad.add(row);
    }
  }
  return bad;
}

async function end(queries: Queries, bad: ReadonlySet<{ readonly id: number }>, statements: readonly string[]) {
  if (bad.size === 0) return;
  const ids = bigints([...bad].map(({ id }) => id));
  for (const statement of statements) await queries.run(statement, ids);
}

function report(log: Log | undefined, damage: Damage): void {
  log?.error({ ...damage }, 'ended as store_damaged: it cannot be read');
}

const FRAMES = 'SELECT first, count, ends, lengths, text, checksum FROM frames WHERE request = $1 ORDER BY first';
const EFFECTS = `${SELECT_EFFECT} WHERE x.id = $1 ORDER BY f.position`;
const END_REQUESTS = [
  `UPDATE requests SET checksum = ${NEVER} WHERE id = ANY($1::bigint[])`,
  'DELETE FROM open_requests WHERE request = ANY($1::bigint[])',
  `DELETE FROM letters l USING requests r
   WHERE r.id = ANY($1::bigint[]) AND l.owner = r.owner AND l.request_id = r.request_id`,
];
const END_EXECUTIONS = [
  `UPDATE executions SET checksum = ${NEVER} WHERE id = ANY($1::bigint[])`,
  `INSERT INTO execution_ends (execution, status, result, events, ended_at, checksum)
   SELECT id, 'error', '', '[]', extract(epoch FROM clock_timestamp()) * 1000, ${NEVER} FROM executions WHERE id = ANY($1::bigint[])`,
  'DELETE FROM open_executions WHERE execution = ANY($1::bigint[])',
];
