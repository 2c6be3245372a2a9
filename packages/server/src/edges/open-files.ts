import { readFileSync } from 'node:fs';
import type { Log } from '@dragoman/core';

/** How many files and sockets this process may have open; `undefined` where that is unlimited or unknown. */
export function openFileLimit(): number | undefined {
  try {
    return softLimitIn(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    // Only Linux has this file.
    return undefined;
  }
}

/** `limits.connections`, lowered with a warning to the number that the process may open. */
export function connectionLimit(wanted: number, openFiles: number | undefined, log: Log): number {
  const possible = openFiles === undefined ? wanted : connectionsWithin(openFiles);
  if (possible >= wanted) return wanted;
  log.warn(
    { connections: possible, wanted, open_files: openFiles },
    'The process may open too few files for limits.connections; the limit is lowered. Raise it with ulimit -n.',
  );
  return possible;
}

/** The soft limit in the text of `/proc/PID/limits`. */
export function softLimitIn(text: string): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

/**
 * How many connections fit into the limit. `RESERVED` files, but at most a quarter of the limit, are left for the
 * store, its files, outbound connections and child processes.
 */
export function connectionsWithin(openFiles: number): number {
  return Math.max(1, openFiles - Math.min(RESERVED, Math.ceil(openFiles / 4)));
}

const RESERVED = 256;
