import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../ports/ports.ts';
import { bootId, isRunning, type ProcessName, processes, processNameOf, statOf } from './process-name.ts';

/** Children are written down while they live, so that the next server can end those of one that was killed. */
interface ChildRecord {
  readonly agent: string;
  /** Also the number of its process group and session. */
  readonly child: ProcessName;
  /** The server it belongs to. */
  readonly owner: ProcessName;
  readonly boot: string | null;
}

/** Writes a child down. At once and not when there is time: what is not written is not found. */
export function recordChild({ folder, agentId, pid }: { folder: string; agentId: string; pid: number }): void {
  const record: ChildRecord = {
    agent: agentId,
    child: processNameOf(pid),
    owner: processNameOf(process.pid),
    boot: bootId(),
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(pathOf(folder, pid), JSON.stringify(record), { mode: 0o600 });
}

export function forgetChild({ folder, pid }: { folder: string; pid: number }): void {
  rmSync(pathOf(folder, pid), { force: true });
}

/**
 * Ends what the children of servers that are gone have left running. Their input ended when their server did, and they
 * have had since then to notice, so they are killed without more ado. Children of a living server are left alone.
 */
export function endOrphans({ folder, log }: { folder: string; log: Log }): void {
  for (const file of recordsIn(folder)) {
    const path = join(folder, file);
    const record = readRecord(path);
    if (record !== undefined && isRunning(record.owner, record.boot)) continue;
    if (record !== undefined && isOrphan(record)) {
      log.warn(
        { agent: record.agent, pid: record.child.pid },
        'stopping processes that an earlier server left running',
      );
      killGroup(record.child.pid);
    }
    rmSync(path, { force: true });
  }
}

/** Sends SIGKILL, or another signal, to a whole process group. False when there is none of that number. */
export function killGroup(group: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/**
 * A child whose first process has ended may have left others in its session. As long as one is there, the number is not
 * reused for another process.
 */
function isOrphan({ child, boot }: ChildRecord): boolean {
  if (child.startedAt === null || boot !== bootId()) return false;
  const leader = statOf(child.pid);
  if (leader !== undefined) return leader.startedAt === child.startedAt;
  return processes().some((pid) => {
    const stat = statOf(pid);
    return stat?.group === child.pid && stat.session === child.pid;
  });
}

function recordsIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => /^\d+\.json$/.test(file));
  } catch {
    return [];
  }
}

function readRecord(path: string): ChildRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8')) as Partial<ChildRecord>;
    const { agent, child, owner, boot = null } = record;
    if (typeof agent !== 'string' || !isName(child) || !isName(owner)) return undefined;
    return { agent, child, owner, boot };
  } catch {
    return undefined;
  }
}

/** 0 and 1 are never our children, and -1 would be all processes. */
function isName(name: ProcessName | undefined): name is ProcessName {
  return Number.isSafeInteger(name?.pid) && (name?.pid ?? 0) > 1;
}

function pathOf(folder: string, pid: number): string {
  return join(folder, `${pid}.json`);
}
