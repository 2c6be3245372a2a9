import type { ApiRow } from '../apis.ts';
import type { Database } from '../sqlite-engine.ts';

export const API_TABLES = `
  CREATE TABLE apis (
    api_id TEXT PRIMARY KEY,
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL
  )
`;

export function apiReads(database: Database) {
  const list = database.prepare(
    'SELECT api_id AS "apiId", definition, created_at AS "createdAt" FROM apis ORDER BY created_at, api_id',
  );

  return {
    listApis: (): ApiRow[] => list.all() as ApiRow[],
  };
}

export function apiWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO apis (api_id, definition, created_at) VALUES (?, ?, ?)
    ON CONFLICT (api_id) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at`);

  return {
    putApi(row: ApiRow): void {
      put.run(row.apiId, row.definition, row.createdAt);
    },
  };
}

export function apiRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM apis WHERE api_id = ?');

  return {
    removeApi: (apiId: string): boolean => remove.run(apiId).changes === 1,
  };
}
