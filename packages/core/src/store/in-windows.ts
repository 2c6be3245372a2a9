import type { ExecutionSummary } from './executions.ts';
import type { ExecutionWindow } from './sql/executions.ts';

/** Purges one window of rows per call, so that other calls get their turn in between. Returns how many were purged. */
export async function inWindows(
  purge: (from: number) => Promise<{ purged: number; next: number | null }>,
): Promise<number> {
  let total = 0;
  for (let from: number | null = 0; from !== null; ) {
    const window: { purged: number; next: number | null } = await purge(from);
    total += window.purged;
    from = window.next;
  }
  return total;
}

/** Repeats `remove`, which removes some rows per call, until none are left. Returns how many were removed. */
export async function untilNone(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let removed = await remove(); removed > 0; removed = await remove()) total += removed;
  return total;
}

/** The newest rows of all windows, read one window per call. */
export async function newestInWindows(
  limit: number,
  look: (from: string) => Promise<ExecutionWindow>,
): Promise<ExecutionSummary[]> {
  let newest: ExecutionSummary[] = [];
  for (let from: string | null = ''; from !== null; ) {
    const window: ExecutionWindow = await look(from);
    newest = [...newest, ...window.newest].sort((a, b) => b.number - a.number).slice(0, limit);
    from = window.next;
  }
  return newest;
}
