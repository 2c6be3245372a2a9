import type { Damage } from '../damage.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import type { KeyRow } from '../store.ts';
import { type Checked, checksumOf, isWhole, wholeRows } from './checked-rows.ts';

export function keyReads(database: Database) {
  const list = database.prepare(`${SELECT_KEY} ORDER BY created_at, key_id`);

  return {
    listKeys: (): KeyRow[] => wholeRows(list.all() as Checked<KeyRow>[], checksumOfKey),
  };
}

export function damagedKeys(database: Database): () => Damage[] {
  const list = database.prepare(`${SELECT_KEY} ORDER BY key_id`);
  return () =>
    (list.all() as Checked<KeyRow>[])
      .filter((row) => !isWhole(row, checksumOfKey))
      .map(({ agentId, keyId }) => ({ kind: 'key', owner: agentId, name: keyId }));
}

export function keyWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO keys (key_id, hash, agent_id, role, description, created_at, expires_at, revoked_at, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key_id) DO UPDATE SET hash = excluded.hash, agent_id = excluded.agent_id, role = excluded.role,
      description = excluded.description, created_at = excluded.created_at,
      expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
      checksum = excluded.checksum`);

  return {
    putKey(row: KeyRow): void {
      requireStorable(row.keyId, row.agentId, row.description);
      const { keyId, hash, agentId, role, description, createdAt, expiresAt, revokedAt } = row;
      put.run(keyId, hash, agentId, role, description, createdAt, expiresAt, revokedAt, checksumOfKey(row));
    },
  };
}

/** Revoking is a removal, because it must also work on a full disk. */
export function keyRemovals(database: Database) {
  const active = database.prepare(`${SELECT_KEY} WHERE key_id = ? AND revoked_at IS NULL`);
  const revoke = database.prepare('UPDATE keys SET revoked_at = ?, checksum = ? WHERE key_id = ?');

  return {
    revokeKey(keyId: string, at: number): boolean {
      const row = active.get(keyId) as Checked<KeyRow> | undefined;
      if (row === undefined) return false;
      // A damaged key stays damaged: it must not get a matching checksum.
      const checksum = isWhole(row, checksumOfKey) ? checksumOfKey({ ...row, revokedAt: at }) : row.checksum;
      return revoke.run(at, checksum, keyId).changes === 1;
    },
  };
}

/**
 * Omits the expiry of a key that does not expire, so that the checksums of rows from before there were expiries still
 * match.
 */
export function checksumOfKey(row: KeyRow): number {
  const { keyId, hash, agentId, role, description, createdAt, expiresAt, revokedAt } = row;
  const end = expiresAt === null ? [] : [expiresAt];
  return checksumOf(keyId, hash, agentId, role, description, createdAt, revokedAt, ...end);
}

export const SELECT_KEY = `
  SELECT key_id AS "keyId", hash, agent_id AS "agentId", role, description, created_at AS "createdAt",
    expires_at AS "expiresAt", revoked_at AS "revokedAt", checksum
  FROM keys`;
