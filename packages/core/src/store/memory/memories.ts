import {
  type MemoriesStore,
  type MemoryEntryRow,
  type MemoryPut,
  type MemoryQuota,
  type MemoryRow,
  type MemoryUse,
  wholeOf,
} from '../memories.ts';
import { requireStorable } from '../storable.ts';
import type { Forgets } from './forgetting.ts';
import { nameOf } from './name-of.ts';
import type { Perform } from './perform.ts';

/** What agents remember, in memory. */
export function memoryMemories(perform: Perform): MemoriesStore & Forgets<'memories'> {
  const memories = new Map<string, MemoryRow>();
  const spaces = new Map<string, Map<string, MemoryEntryRow>>();

  function open(row: MemoryRow, quota: MemoryQuota): void {
    const { memoryId, owner, namespace, scope } = row;
    requireStorable(memoryId, owner, namespace, scope);
    const name = nameOf(owner, memoryId);
    if (memories.has(name)) return;
    memories.set(name, row);
    const others = [...memories.values()].filter((other) => other.owner === owner && other.memoryId !== memoryId);
    others.sort((a, b) => b.createdAt - a.createdAt || (a.memoryId < b.memoryId ? -1 : 1));
    const whole = wholeOf(quota);
    let size = namespace.length + scope.length;
    for (const [at, other] of others.entries()) {
      size += other.namespace.length + other.scope.length;
      if (at + 1 >= whole.entries || size > whole.size) memories.delete(nameOf(owner, other.memoryId));
    }
  }

  function put(row: MemoryEntryRow, quota: MemoryQuota): MemoryPut {
    requireStorable(row.space, row.key, row.owner, row.entry);
    const inSpace = { entries: 1, size: row.entry.length };
    const inAll = { ...inSpace };
    let known: MemoryEntryRow | undefined;
    for (const rows of spaces.values()) {
      for (const other of rows.values()) {
        const [isHere, isOwn] = [other.space === row.space, other.owner === row.owner];
        if (!isHere && !isOwn) continue;
        if (!isAlive(other, row.updatedAt)) rows.delete(other.key);
        else if (isHere && other.key === row.key) known = other;
        else {
          if (isHere) add(other, inSpace);
          if (isOwn) add(other, inAll);
        }
      }
    }
    if (known !== undefined && known.owner !== row.owner) return 'foreign';
    if (isOver(inSpace, quota)) return 'full';
    if (isOver(inAll, wholeOf(quota))) return 'owner_full';
    const space = spaces.get(row.space) ?? new Map<string, MemoryEntryRow>();
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
    open: (row, quota) => perform(() => open(row, quota)),
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

function add(row: MemoryEntryRow, use: { entries: number; size: number }): void {
  use.entries += 1;
  use.size += lengthOf(row);
}

function isOver(use: MemoryUse, most: MemoryUse): boolean {
  return use.entries > most.entries || use.size > most.size;
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
