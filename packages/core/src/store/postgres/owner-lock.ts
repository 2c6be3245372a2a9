import type { PostgresDatabase, Queries } from './database.ts';

/** Until the end of the transaction: two transactions must not count at once before they write. */
export async function lockOwner(queries: Queries, family: string, owner: string): Promise<void> {
  await queries.all('SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))', family, owner);
}

/** Old rows are removed by one node at a time: two would lock them in another order. */
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
