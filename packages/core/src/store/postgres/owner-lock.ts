import type { Queries } from './database.ts';

/** Until the end of the transaction: what is counted before it is written is not counted by two at once. */
export async function lockOwner(queries: Queries, family: string, owner: string): Promise<void> {
  await queries.all('SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))', family, owner);
}
