import type { PostgresStore, PostgresStoreOptions } from './postgres/postgres-store.ts';

/**
 * Opens the store in a schema of a PostgreSQL database. Rejects with a `StoreError` that names the obstacle. The
 * PostgreSQL client is imported here, so that a server with another store does not load it.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { connectPostgresStore } = await import('./postgres/postgres-store.ts');
  return connectPostgresStore(options);
}

/** The version of a PostgreSQL server that the store can use. Rejects with a `StoreError` that names the obstacle. */
export async function postgresVersion(url: string): Promise<string> {
  const [{ readPostgresUrl }, { usableVersion }] = await Promise.all([
    import('./postgres/postgres-url.ts'),
    import('./postgres/open-database.ts'),
  ]);
  return usableVersion(readPostgresUrl(url));
}
