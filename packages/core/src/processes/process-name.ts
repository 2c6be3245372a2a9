import { readdirSync, readFileSync } from 'node:fs';

/** Identifies a process. Pids are reused, but a pid with its start time is unique within a boot. */
export interface ProcessName {
  readonly pid: number;
  /** In clock ticks since the boot; null on a system without /proc. */
  readonly startedAt: string | null;
}

export function isRunning({ pid, startedAt }: ProcessName, boot: string | null): boolean {
  if (startedAt === null || boot !== bootId()) return false;
  const stat = statOf(pid);
  return stat?.startedAt === startedAt && !stat.ending;
}

export function processNameOf(pid: number): ProcessName {
  return { pid, startedAt: statOf(pid)?.startedAt ?? null };
}

export interface ProcessStat {
  /** Whether it has closed its files or is about to. Its children may notice that before it counts as dead. */
  readonly ending: boolean;
  readonly group: number;
  readonly session: number;
  readonly startedAt: string;
}

/** proc(5), /proc/pid/stat. The name in parentheses may contain anything, so the fields are counted from its end. */
export function statOf(pid: number): ProcessStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, , group, session, , , flags] = fields ?? [];
  const startedAt = fields?.[19];
  if (state === undefined || startedAt === undefined) return undefined;
  const ending = state === 'Z' || (Number(flags) & EXITING) !== 0;
  return { ending, group: Number(group), session: Number(session), startedAt };
}

export function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

export function bootId(): string | null {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The kernel's mark of a process on its way out (PF_EXITING), set before its files are closed. */
const EXITING = 0x4;
