import type { KnowledgeBaseRow, KnowledgeStore } from '../knowledge.ts';

/** Knowledge bases in memory. `perform` runs something as a call to the store would. */
export function memoryKnowledge(perform: <Result>(operation: () => Result) => Promise<Result>): KnowledgeStore {
  const rows = new Map<string, KnowledgeBaseRow>();
  return {
    put: (row) => perform(() => void rows.set(row.baseId, row)),
    list: () =>
      perform(() => [...rows.values()].sort((a, b) => a.createdAt - b.createdAt || (a.baseId < b.baseId ? -1 : 1))),
    remove: (baseId) => perform(() => rows.delete(baseId)),
  };
}
