import type { MemoriesStore, MemoryEntryRow, MemoryQuota, MemoryRow } from '../memories.ts';
import { requireStorable } from '../storable.ts';
import type { Forgets } from './forgetting.ts';
import { nameOf } from './name-of.ts';
import type { Perform } from './perform.ts';

/** What agents remember, in memory. */
export function memoryMemories(perform: Perform): MemoriesStore & Forgets<'memories'> {
  const memories = new Map<string, MemoryRow>();
  const spaces = new Map<string, Map<string, MemoryEntryRow>>();

  function put(row: MemoryEntryRow, quota: MemoryQuota): 'stored' | 'full' | 'foreign' {
    requireStorable(row.space, row.key, row.owner, row.entry);
    forget(row.space, (other) => !isAlive(other, row.updatedAt));
    const space = spaces.get(row.space) ?? new Map<string, MemoryEntryRow>();
    const known = space.get(row.key);
    if (known !== undefined && known.owner !== row.owner) return 'foreign';
    const others = [...space.values()].filter(({ key }) => key !== row.key);
    const size = others.reduce((sum, other) => sum + lengthOf(other), 0);
    if (others.length + 1 > quota.entries || size + row.entry.length > quota.size) return 'full';
    spaces.set(row.space, space.set(row.key, { ...row, createdAt: known?.createdAt ?? row.createdAt }));
    return 'stored';
  }

  function forget(space: string, isGone: (row: MemoryEntryRow) => boolean): number {
    const rows = spaces.get(space);
    const gone = [...(rows?.values() ?? [])].filter(isGone);
    for (const { key } of gone) rows?.delete(key);
    return gone.length;
  }

  return {
    forget: (owner) => {
      for (const [name, row] of memories) if (row.owner === owner) memories.delete(name);
      const isOwn = (row: MemoryEntryRow) => row.owner === owner;
      return { memories: [...spaces.keys()].reduce((sum, space) => sum + forget(space, isOwn), 0) };
    },
    open: (row) =>
      perform(() => {
        requireStorable(row.memoryId, row.owner, row.namespace, row.scope);
        const name = nameOf(row.owner, row.memoryId);
        if (!memories.has(name)) memories.set(name, row);
      }),
    find: (owner, memoryId) => perform(() => memories.get(nameOf(owner, memoryId))),
    put: (row, quota) => perform(() => put(row, quota)),
    list: (space, now) =>
      perform(() => {
        const rows = [...(spaces.get(space)?.values() ?? [])].filter((row) => isAlive(row, now));
        return rows.sort((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
      }),
    remove: (space, owner, keys) =>
      perform(() => forget(space, (row) => row.owner === owner && keys.includes(row.key))),
    purge: (now) =>
      perform(() => [...spaces.keys()].reduce((sum, space) => sum + forget(space, (row) => !isAlive(row, now)), 0)),
  };
}

/** In characters, as SQL counts them. Asked of every entry for each that is added, and counted once. */
function lengthOf(row: MemoryEntryRow): number {
  const known = LENGTHS.get(row) ?? [...row.entry].length;
  LENGTHS.set(row, known);
  return known;
}

const LENGTHS = new WeakMap<MemoryEntryRow, number>();

function isAlive({ expiresAt }: MemoryEntryRow, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}
