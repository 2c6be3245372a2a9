import { type MemoriesStore, type MemoryEntryRow, type MemoryUse, wholeOf } from '../../store/memories.ts';

/** The entries of one connection, under the rules of the store. A connection has one owner, so no entry is foreign. */
export function workingMemory(): Pick<MemoriesStore, 'put' | 'list' | 'remove'> {
  const spaces = new Map<string, Map<string, MemoryEntryRow>>();

  return {
    async put(row, quota) {
      const inSpace = { entries: 1, size: row.entry.length };
      const inAll = { ...inSpace };
      let known: MemoryEntryRow | undefined;
      for (const rows of spaces.values()) {
        for (const other of rows.values()) {
          const isHere = other.space === row.space;
          if (!isAlive(other, row.updatedAt)) rows.delete(other.key);
          else if (isHere && other.key === row.key) known = other;
          else {
            if (isHere) add(other, inSpace);
            add(other, inAll);
          }
        }
      }
      if (isOver(inSpace, quota)) return 'full';
      if (isOver(inAll, wholeOf(quota))) return 'owner_full';
      const space = spaces.get(row.space) ?? new Map<string, MemoryEntryRow>();
      spaces.set(row.space, space.set(row.key, { ...row, createdAt: known?.createdAt ?? row.createdAt }));
      return 'stored';
    },
    async list(space, now) {
      const rows = [...(spaces.get(space)?.values() ?? [])].filter((row) => isAlive(row, now));
      return rows.sort((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1));
    },
    async remove(space, _owner, keys) {
      const rows = spaces.get(space);
      return keys.filter((key) => rows?.delete(key)).length;
    },
  };
}

function add(row: MemoryEntryRow, use: { entries: number; size: number }): void {
  use.entries += 1;
  use.size += lengthOf(row);
}

function isOver(use: MemoryUse, most: MemoryUse): boolean {
  return use.entries > most.entries || use.size > most.size;
}

/** The length in characters, as SQL counts them. It is kept, because each put needs the length of every entry. */
function lengthOf(row: MemoryEntryRow): number {
  const known = LENGTHS.get(row) ?? [...row.entry].length;
  LENGTHS.set(row, known);
  return known;
}

const LENGTHS = new WeakMap<MemoryEntryRow, number>();

function isAlive({ expiresAt }: MemoryEntryRow, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}
