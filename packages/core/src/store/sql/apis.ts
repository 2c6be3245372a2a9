import type { ApiRow } from '../apis.ts';
import type { Damage } from '../damage.ts';
import type { Database } from '../sqlite-engine.ts';
import { type Checked, checksumOf, isWhole, wholeRows } from './checked-rows.ts';

export const API_TABLES = `
  CREATE TABLE apis (
    api_id TEXT PRIMARY KEY,
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL
  )
`;

export function apiReads(database: Database) {
  const list = database.prepare(`${SELECT_API} ORDER BY created_at, api_id`);

  return {
    listApis: (): ApiRow[] => wholeRows(list.all() as Checked<ApiRow>[], checksumOfApi),
  };
}

export function damagedApis(database: Database): () => Damage[] {
  const list = database.prepare(`${SELECT_API} ORDER BY api_id`);
  return () =>
    (list.all() as Checked<ApiRow>[])
      .filter((row) => !isWhole(row, checksumOfApi))
      .map(({ apiId }) => ({ kind: 'api', owner: '', name: apiId }));
}

export function apiWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO apis (api_id, definition, created_at, checksum) VALUES (?, ?, ?, ?)
    ON CONFLICT (api_id) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at,
      checksum = excluded.checksum`);

  return {
    putApi(row: ApiRow): void {
      put.run(row.apiId, row.definition, row.createdAt, checksumOfApi(row));
    },
  };
}

export function apiRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM apis WHERE api_id = ?');

  return {
    removeApi: (apiId: string): boolean => remove.run(apiId).changes === 1,
  };
}

export function checksumOfApi({ apiId, definition, createdAt }: ApiRow): number {
  return checksumOf(apiId, definition, createdAt);
}

export const SELECT_API = 'SELECT api_id AS "apiId", definition, created_at AS "createdAt", checksum FROM apis';
