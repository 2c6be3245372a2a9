import { type MemoriesStore, type MemoryEntryRow, type MemoryRow, type MemoryUse, wholeOf } from '../memories.ts';
import { requireStorable } from '../storable.ts';
import { texts } from './arrays.ts';
import type { PostgresDatabase } from './database.ts';
import { lockOwner, purgeInTurn } from './owner-lock.ts';

export function memoriesStore(database: PostgresDatabase): MemoriesStore {
  const { read } = database;
  return {
    open: async (row, quota) => {
      const { memoryId, owner, namespace, scope, createdAt } = row;
      requireStorable(memoryId, owner, namespace, scope);
      await database.write(async (queries) => {
        if ((await queries.run(OPEN, memoryId, owner, namespace, scope, createdAt)) === 0) return;
        const { entries, size } = wholeOf(quota);
        await queries.run(LEAVE, owner, memoryId, entries - 1, size - namespace.length - scope.length);
      });
    },

    find: (owner, memoryId) => read.get<MemoryRow>(FIND, owner, memoryId),

    put: async (row, quota) => {
      requireStorable(row.space, row.key, row.owner, row.entry);
      return database.write(async (queries) => {
        await lockOwner(queries, 'memory space', row.space);
        await lockOwner(queries, 'memory owner', row.owner);
        // Expired entries do not count any more. If they were kept, short-lived entries could fill the disk.
        await queries.run(FORGET_EXPIRED, row.space, row.owner, row.updatedAt);
        const known = await queries.get<Known>(BEFORE, row.space, row.key);
        if (known !== undefined && known.owner !== row.owner) return 'foreign';
        const { entries, size } = (await queries.get<MemoryUse>(OTHERS, row.space, row.key)) ?? NONE;
        if (entries + 1 > quota.entries || size + row.entry.length > quota.size) return 'full';
        const all = (await queries.get<MemoryUse>(OWN, row.owner)) ?? NONE;
        const whole = wholeOf(quota);
        const added = row.entry.length - (known?.size ?? 0);
        if (all.entries + (known === undefined ? 1 : 0) > whole.entries || all.size + added > whole.size) {
          return 'owner_full';
        }
        const { space, key, owner, entry, updatedAt, expiresAt } = row;
        const createdAt = known?.createdAt ?? row.createdAt;
        await queries.run(PUT, space, key, owner, entry, entry.length, createdAt, updatedAt, expiresAt);
        return 'stored';
      });
    },

    list: (space, now) => read.all<MemoryEntryRow>(LIST, space, now),

    remove: (space, owner, keys) =>
      database.write((queries) =>
        queries.run(
          'DELETE FROM memory_entries WHERE space = $1 AND owner = $2 AND key = ANY($3::text[])',
          space,
          owner,
          texts(keys),
        ),
      ),

    purge: (now) => purgeInTurn(database, 'memories', 'DELETE FROM memory_entries WHERE expires_at <= $1', now),
  };
}

/** The entry that already exists under the key. */
type Known = Pick<MemoryEntryRow, 'owner' | 'createdAt'> & Pick<MemoryUse, 'size'>;

const OPEN = `
  INSERT INTO memories (memory_id, owner, namespace, scope, created_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (owner, memory_id) DO NOTHING`;
const LEAVE = `
  DELETE FROM memories WHERE owner = $1 AND memory_id IN (
    SELECT memory_id FROM (
      SELECT memory_id, row_number() OVER latest AS number, sum(length(namespace) + length(scope)) OVER latest AS size
      FROM memories WHERE owner = $1 AND memory_id <> $2
      WINDOW latest AS (ORDER BY created_at DESC, memory_id)) AS ranked
    WHERE number > $3 OR size > $4)`;
const FIND = `
  SELECT memory_id AS "memoryId", owner, namespace, scope, created_at AS "createdAt"
  FROM memories WHERE owner = $1 AND memory_id = $2`;
const FORGET_EXPIRED = 'DELETE FROM memory_entries WHERE (space = $1 OR owner = $2) AND expires_at <= $3';
const BEFORE = `
  SELECT owner, created_at AS "createdAt", size FROM memory_entries WHERE space = $1 AND key = $2 FOR UPDATE`;
const USE = 'SELECT count(*) AS entries, COALESCE(sum(size), 0)::bigint AS size FROM memory_entries';
const OTHERS = `${USE} WHERE space = $1 AND key <> $2`;
const OWN = `${USE} WHERE owner = $1`;
const PUT = `
  INSERT INTO memory_entries (space, key, owner, entry, size, created_at, updated_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (space, key) DO UPDATE SET entry = excluded.entry, size = excluded.size, owner = excluded.owner,
    created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at`;
const LIST = `
  SELECT space, key, owner, entry, created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt"
  FROM memory_entries WHERE space = $1 AND (expires_at IS NULL OR expires_at > $2) ORDER BY updated_at DESC, key`;
const NONE: MemoryUse = { entries: 0, size: 0 };
