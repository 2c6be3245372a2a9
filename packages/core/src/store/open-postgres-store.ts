import type { PostgresStore, PostgresStoreOptions } from './postgres/postgres-store.ts';

/**
 * Opens the store in a schema of a PostgreSQL database. Rejects with a `StoreError` that names the obstacle. The client is
 * loaded here: a server with another store does not load it.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { connectPostgresStore } = await import('./postgres/postgres-store.ts');
  return connectPostgresStore(options);
}
