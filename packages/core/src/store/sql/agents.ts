import type { Database } from '../sqlite-engine.ts';
import type { AgentRow } from '../store.ts';

export function agentReads(database: Database) {
  const list = database.prepare(
    'SELECT agent_id AS "agentId", definition, created_at AS "createdAt" FROM agents ORDER BY created_at, agent_id',
  );

  return {
    listAgents: (): AgentRow[] => list.all() as AgentRow[],
  };
}

export function agentWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO agents (agent_id, definition, created_at) VALUES (?, ?, ?)
    ON CONFLICT (agent_id) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at`);

  return {
    putAgent(row: AgentRow): void {
      put.run(row.agentId, row.definition, row.createdAt);
    },
  };
}

export function agentRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM agents WHERE agent_id = ?');

  return {
    removeAgent: (agentId: string): boolean => remove.run(agentId).changes === 1,
  };
}
