import type { MemoryEntryRow, MemoryQuota, MemoryRow } from '../memories.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';

export function memoryReads(database: Database) {
  const find = database.prepare(`
    SELECT memory_id AS "memoryId", owner, namespace, scope, created_at AS "createdAt"
    FROM memories WHERE owner = ? AND memory_id = ?`);
  const list = database.prepare(`
    SELECT space, key, owner, entry, created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt"
    FROM memory_entries WHERE space = ? AND (expires_at IS NULL OR expires_at > ?)
    ORDER BY updated_at DESC, key`);

  return {
    findMemory: (owner: string, memoryId: string): MemoryRow | undefined =>
      find.get(owner, memoryId) as MemoryRow | undefined,
    listMemory: (space: string, now: number): MemoryEntryRow[] => list.all(space, now) as MemoryEntryRow[],
  };
}

export function memoryWrites(database: Database) {
  const open = database.prepare(`
    INSERT INTO memories (memory_id, owner, namespace, scope, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (owner, memory_id) DO NOTHING`);
  const before = database.prepare(
    'SELECT owner, created_at AS "createdAt" FROM memory_entries WHERE space = ? AND key = ?',
  );
  const forgetExpired = database.prepare('DELETE FROM memory_entries WHERE space = ? AND expires_at <= ?');
  const others = database.prepare(`
    SELECT count(*) AS entries, coalesce(sum(length(entry)), 0) AS size FROM memory_entries
    WHERE space = ? AND key <> ?`);
  const put = database.prepare(`
    INSERT INTO memory_entries (space, key, owner, entry, created_at, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (space, key) DO UPDATE SET entry = excluded.entry, owner = excluded.owner,
      created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at`);

  return {
    openMemory(row: MemoryRow): void {
      requireStorable(row.memoryId, row.owner, row.namespace, row.scope);
      open.run(row.memoryId, row.owner, row.namespace, row.scope, row.createdAt);
    },

    putMemory(row: MemoryEntryRow, quota: MemoryQuota): 'stored' | 'full' | 'foreign' {
      requireStorable(row.space, row.key, row.owner, row.entry);
      // They count no more: were they left here, what is written to last a second would fill the disk.
      forgetExpired.run(row.space, row.updatedAt);
      const known = before.get(row.space, row.key) as Pick<MemoryEntryRow, 'owner' | 'createdAt'> | undefined;
      if (known !== undefined && known.owner !== row.owner) return 'foreign';
      const { entries, size } = others.get(row.space, row.key) as MemoryQuota;
      if (entries + 1 > quota.entries || size + row.entry.length > quota.size) return 'full';
      const createdAt = known?.createdAt ?? row.createdAt;
      put.run(row.space, row.key, row.owner, row.entry, createdAt, row.updatedAt, row.expiresAt);
      return 'stored';
    },
  };
}

export function memoryRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM memory_entries WHERE space = ? AND owner = ? AND key = ?');
  const purge = database.prepare('DELETE FROM memory_entries WHERE expires_at <= ?');

  return {
    removeMemory: (space: string, owner: string, keys: readonly string[]): number =>
      keys.reduce((count, key) => count + Number(remove.run(space, owner, key).changes), 0),
    purgeMemory: (now: number): number => Number(purge.run(now).changes),
  };
}
