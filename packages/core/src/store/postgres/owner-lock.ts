import type { PostgresDatabase, Queries } from './database.ts';

/** Locks until the end of the transaction, so that two transactions cannot both count before they write. */
export async function lockOwner(queries: Queries, family: string, owner: string): Promise<void> {
  await queries.all('SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))', family, owner);
}

/** Lets one node at a time remove old rows, because two nodes could lock them in different orders. */
export function purgeInTurn(
  database: PostgresDatabase,
  family: string,
  text: string,
  ...values: unknown[]
): Promise<number> {
  return database.write(async (queries) => {
    await lockOwner(queries, 'purge', family);
    return queries.run(text, ...values);
  });
}
