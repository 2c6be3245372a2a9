import { bigints } from './arrays.ts';
import type { Queries } from './database.ts';

/** Deletes requests with everything that belongs to them. Returns the number of deleted requests. */
export async function deleteRequests(queries: Queries, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  const list = bigints(ids);
  for (const table of ['frames', 'ended_requests', 'late_requests', 'open_requests', 'push_configs']) {
    await queries.run(`DELETE FROM ${table} WHERE request = ANY($1::bigint[])`, list);
  }
  return queries.run('DELETE FROM requests WHERE id = ANY($1::bigint[])', list);
}

/** Deletes executions with everything that belongs to them. Returns the number of deleted executions. */
export async function deleteExecutions(queries: Queries, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  const list = bigints(ids);
  for (const table of ['execution_effects', 'execution_ends', 'open_executions']) {
    await queries.run(`DELETE FROM ${table} WHERE execution = ANY($1::bigint[])`, list);
  }
  return queries.run('DELETE FROM executions WHERE id = ANY($1::bigint[])', list);
}
