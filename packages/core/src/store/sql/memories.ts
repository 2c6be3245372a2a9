import {
  type MemoryEntryRow,
  type MemoryPut,
  type MemoryQuota,
  type MemoryRow,
  type MemoryUse,
  wholeOf,
} from '../memories.ts';
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
  const leave = database.prepare(`
    DELETE FROM memories WHERE owner = ? AND memory_id IN (
      SELECT memory_id FROM (
        SELECT memory_id, row_number() OVER latest AS number, sum(length(namespace) + length(scope)) OVER latest AS size
        FROM memories WHERE owner = ? AND memory_id <> ?
        WINDOW latest AS (ORDER BY created_at DESC, memory_id))
      WHERE number > ? OR size > ?)`);
  const before = database.prepare(`
    SELECT owner, created_at AS "createdAt", length(entry) AS size FROM memory_entries WHERE space = ? AND key = ?`);
  const forgetExpired = database.prepare('DELETE FROM memory_entries WHERE space = ? AND expires_at <= ?');
  const forgetOwnExpired = database.prepare('DELETE FROM memory_entries WHERE owner = ? AND expires_at <= ?');
  const others = database.prepare(`
    SELECT count(*) AS entries, coalesce(sum(length(entry)), 0) AS size FROM memory_entries
    WHERE space = ? AND key <> ?`);
  const own = database.prepare(`
    SELECT count(*) AS entries, coalesce(sum(length(entry)), 0) AS size FROM memory_entries WHERE owner = ?`);
  const put = database.prepare(`
    INSERT INTO memory_entries (space, key, owner, entry, created_at, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (space, key) DO UPDATE SET entry = excluded.entry, owner = excluded.owner,
      created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at`);

  return {
    openMemory(row: MemoryRow, quota: MemoryQuota): void {
      const { memoryId, owner, namespace, scope, createdAt } = row;
      requireStorable(memoryId, owner, namespace, scope);
      const isNew = Number(open.run(memoryId, owner, namespace, scope, createdAt).changes) > 0;
      if (!isNew) return;
      const { entries, size } = wholeOf(quota);
      leave.run(owner, owner, memoryId, entries - 1, size - namespace.length - scope.length);
    },

    putMemory(row: MemoryEntryRow, quota: MemoryQuota): MemoryPut {
      requireStorable(row.space, row.key, row.owner, row.entry);
      // Expired entries do not count, so they must not stay: short-lived entries could fill the disk.
      forgetExpired.run(row.space, row.updatedAt);
      forgetOwnExpired.run(row.owner, row.updatedAt);
      const known = before.get(row.space, row.key) as Known | undefined;
      if (known !== undefined && known.owner !== row.owner) return 'foreign';
      const { entries, size } = others.get(row.space, row.key) as MemoryUse;
      if (entries + 1 > quota.entries || size + row.entry.length > quota.size) return 'full';
      const all = own.get(row.owner) as MemoryUse;
      const whole = wholeOf(quota);
      const added = row.entry.length - (known?.size ?? 0);
      if (all.entries + (known === undefined ? 1 : 0) > whole.entries || all.size + added > whole.size)
        return 'owner_full';
      const createdAt = known?.createdAt ?? row.createdAt;
      put.run(row.space, row.key, row.owner, row.entry, createdAt, row.updatedAt, row.expiresAt);
      return 'stored';
    },
  };
}

export function memoryRemovals(database: Database) {
  const remove = database.prepare('DELETE FROM memory_entries WHERE space = ? AND owner = ? AND key = ?');
  const purge = database.prepare(`
    DELETE FROM memory_entries WHERE (space, key) IN (
      SELECT space, key FROM memory_entries WHERE expires_at <= ? LIMIT ?)`);

  return {
    removeMemory: (space: string, owner: string, keys: readonly string[]): number =>
      keys.reduce((count, key) => count + Number(remove.run(space, owner, key).changes), 0),
    purgeMemory: (now: number): number => Number(purge.run(now, PURGE_WINDOW).changes),
  };
}

type Known = Pick<MemoryEntryRow, 'owner' | 'createdAt'> & Pick<MemoryUse, 'size'>;

const PURGE_WINDOW = 200;
