import type { KnowledgeBaseRow, KnowledgeStore } from '../knowledge.ts';
import type { Perform } from './perform.ts';

/** Knowledge bases in memory. */
export function memoryKnowledge(perform: Perform): KnowledgeStore {
  const rows = new Map<string, KnowledgeBaseRow>();
  return {
    put: (row) => perform(() => void rows.set(row.baseId, row)),
    list: () =>
      perform(() => [...rows.values()].sort((a, b) => a.createdAt - b.createdAt || (a.baseId < b.baseId ? -1 : 1))),
    remove: (baseId) => perform(() => rows.delete(baseId)),
  };
}
