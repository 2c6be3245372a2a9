import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../ports/ports.ts';
import { bootId, isRunning, type ProcessName, processes, processNameOf, statOf } from './process-name.ts';

/** The record of a running child, by which the next server can end the children of a server that was killed. */
interface ChildRecord {
  readonly agent: string;
  /** Its pid is also the number of its process group and session. */
  readonly child: ProcessName;
  /** The server that started it. */
  readonly owner: ProcessName;
  readonly boot: string | null;
}

/** Records a child, synchronously: a child without a record is not found after a kill. */
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
 * Kills the remaining processes of children whose server is gone. Their input ended with their server, so they had time
 * to exit by themselves. Children of a running server are left alone.
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

/** Sends a signal to a whole process group. False when the group does not exist. */
export function killGroup(group: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/**
 * Whether processes of a child are left: its first one, or others in its session. As long as one of them runs, the
 * number is not reused for another process.
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
