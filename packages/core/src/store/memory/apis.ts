import type { ApiRow, ApiStore } from '../apis.ts';
import type { Perform } from './perform.ts';

/** APIs in memory. */
export function memoryApis(perform: Perform): ApiStore {
  const rows = new Map<string, ApiRow>();
  return {
    put: (row) => perform(() => void rows.set(row.apiId, row)),
    list: () =>
      perform(() => [...rows.values()].sort((a, b) => a.createdAt - b.createdAt || (a.apiId < b.apiId ? -1 : 1))),
    remove: (apiId) => perform(() => rows.delete(apiId)),
  };
}
