import type { ApiRow, ApiStore } from '../apis.ts';

/** APIs in memory. `perform` runs something as a call to the store would. */
export function memoryApis(perform: <Result>(operation: () => Result) => Promise<Result>): ApiStore {
  const rows = new Map<string, ApiRow>();
  return {
    put: (row) => perform(() => void rows.set(row.apiId, row)),
    list: () =>
      perform(() => [...rows.values()].sort((a, b) => a.createdAt - b.createdAt || (a.apiId < b.apiId ? -1 : 1))),
    remove: (apiId) => perform(() => rows.delete(apiId)),
  };
}
