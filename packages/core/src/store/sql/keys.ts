import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type { KeyRow } from '../store.ts';

export function keyReads(database: Database) {
  const list = database.prepare(`
    SELECT key_id AS "keyId", hash, agent_id AS "agentId", role, description, created_at AS "createdAt", revoked_at AS "revokedAt"
    FROM keys ORDER BY created_at, key_id`);

  return {
    listKeys: (): KeyRow[] => list.all() as KeyRow[],
  };
}

export function keyWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO keys (key_id, hash, agent_id, role, description, created_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key_id) DO UPDATE SET hash = excluded.hash, agent_id = excluded.agent_id, role = excluded.role,
      description = excluded.description, created_at = excluded.created_at, revoked_at = excluded.revoked_at`);

  return {
    putKey(row: KeyRow): void {
      requireStorable(row.keyId, row.agentId, row.description);
      put.run(row.keyId, row.hash, row.agentId, row.role, row.description, row.createdAt, row.revokedAt);
    },
  };
}

/** Revoking stands here because it must work on a full disk too. */
export function keyRemovals(database: Database) {
  const revoke = database.prepare('UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL');

  return {
    revokeKey: (keyId: string, at: number): boolean => revoke.run(at, keyId).changes === 1,
  };
}
