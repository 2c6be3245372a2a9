import type { KnowledgeBaseRow } from '../knowledge.ts';
import type { Database } from '../sqlite-engine.ts';

export const KNOWLEDGE_TABLES = `
  CREATE TABLE knowledge_bases (
    base_id TEXT PRIMARY KEY,
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL
  )
`;

export function knowledgeReads(database: Database) {
  const list = database.prepare(
    'SELECT base_id AS "baseId", definition, created_at AS "createdAt" FROM knowledge_bases ORDER BY created_at, base_id',
  );

  return {
    listKnowledge: (): KnowledgeBaseRow[] => list.all() as KnowledgeBaseRow[],
  };
}

export function knowledgeWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO knowledge_bases (base_id, definition, created_at) VALUES (?, ?, ?)
    ON CONFLICT (base_id) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at`);

  return {
    putKnowledge(row: KnowledgeBaseRow): void {
      put.run(row.baseId, row.definition, row.createdAt);
    },
  };
}

export function knowledgeRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM knowledge_bases WHERE base_id = ?');

  return {
    removeKnowledge: (baseId: string): boolean => remove.run(baseId).changes === 1,
  };
}
