import type { Damage } from '../damage.ts';
import type { Database } from '../sqlite-engine.ts';
import type { AgentRow } from '../store.ts';
import { type Checked, checksumOf, isWhole, wholeRows } from './checked-rows.ts';

export function agentReads(database: Database) {
  const list = database.prepare(`${SELECT_AGENT} ORDER BY created_at, agent_id`);

  return {
    listAgents: (): AgentRow[] => wholeRows(list.all() as Checked<AgentRow>[], checksumOfAgent),
  };
}

export function damagedAgents(database: Database): () => Damage[] {
  const list = database.prepare(`${SELECT_AGENT} ORDER BY agent_id`);
  return () =>
    (list.all() as Checked<AgentRow>[])
      .filter((row) => !isWhole(row, checksumOfAgent))
      .map(({ agentId }) => ({ kind: 'agent', owner: '', name: agentId }));
}

export function agentWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO agents (agent_id, definition, created_at, checksum) VALUES (?, ?, ?, ?)
    ON CONFLICT (agent_id) DO UPDATE SET definition = excluded.definition, created_at = excluded.created_at,
      checksum = excluded.checksum`);

  return {
    putAgent(row: AgentRow): void {
      put.run(row.agentId, row.definition, row.createdAt, checksumOfAgent(row));
    },
  };
}

export function agentRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM agents WHERE agent_id = ?');

  return {
    removeAgent: (agentId: string): boolean => remove.run(agentId).changes === 1,
  };
}

export function checksumOfAgent({ agentId, definition, createdAt }: AgentRow): number {
  return checksumOf(agentId, definition, createdAt);
}

export const SELECT_AGENT = 'SELECT agent_id AS "agentId", definition, created_at AS "createdAt", checksum FROM agents';
